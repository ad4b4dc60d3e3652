import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ChatMessage } from '@gaia-mesh/core/contracts/engine.ts';
import { LLAMA_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { expect, test } from 'vitest';
import { LocalModel } from './local-model.ts';

interface Shown {
  readonly messages: readonly {
    readonly role: string;
    readonly content: string;
    readonly tool_calls?: object;
  }[];
  readonly tools?: object;
}

const showTurn = ({ role, content, tool_calls: calls }: Shown['messages'][number]) =>
  `<${role}>${content}${calls === undefined ? '' : JSON.stringify(calls)}</>`;
/** Templates as models have them: one shows tools and calls in its own words, and one knows neither. */
const TEMPLATES = {
  'tools of its own': ({ messages, tools }: Shown) =>
    `${tools === undefined ? '' : `<T>${JSON.stringify(tools)}</T>`}${messages.map(showTurn).join('')}<a>`,
  'no tools': ({ messages }: Shown) => `${messages.map(showTurn).join('')}<a>`,
} as const;

/** Makes a model whose tokens are pairs of characters, and notes what it does with its context. */
async function loadModel(template: keyof typeof TEMPLATES) {
  const steps: string[] = [];
  let context: number[] = [];
  const read = (tokens: readonly number[]) => {
    context.push(...tokens);
    steps.push(`read ${tokens.length}`);
  };
  const tokenize = (text: string) =>
    (text.match(/[\s\S]{1,2}/g) ?? []).map((pair) => pair.charCodeAt(0) * 65_536 + (pair.charCodeAt(1) || 0));
  const sequence = {
    get nextTokenIndex() {
      return context.length;
    },
    async adaptStateToTokens(tokens: number[]) {
      context = [...tokens];
    },
    async evaluateWithoutGeneratingNewTokens(tokens: number[]) {
      read(tokens);
    },
    async *evaluate(tokens: number[]) {
      read(tokens);
      yield* tokenize('Wait.<tool_call>{}');
    },
    async saveStateToFile(file: string) {
      writeFileSync(file, JSON.stringify(context));
      steps.push(`keep ${context.length}`);
      return { fileSize: LLAMA_LIMITS.openingBytes / 2 };
    },
    async loadStateFromFile(file: string) {
      context = JSON.parse(readFileSync(file, 'utf8'));
      steps.push(`restore ${context.length}`);
    },
  };
  const model = {
    tokens: { bos: 1, bosString: '<s>', eosString: '</s>', shouldPrependBosToken: true },
    fileInfo: {
      metadata: { tokenizer: { chat_template: template === 'no tools' ? 'turns' : 'turns, tools' } },
    },
    tokenize,
    detokenize: (tokens: readonly number[]) =>
      tokens
        .map((token) => String.fromCharCode(Math.floor(token / 65_536), token % 65_536).replace('\0', ''))
        .join(''),
    createContext: async () => ({ getSequence: () => sequence }),
  };
  const library = {
    llama: { loadModel: async () => model, createGrammar: async () => ({}) },
    package: { LlamaGrammarEvaluationState: Object },
    compileTemplate: () => TEMPLATES[template],
    takeErrors: () => undefined,
  } as unknown as Parameters<typeof LocalModel.load>[0];
  const folder = mkdtempSync(path.join(tmpdir(), 'openings-'));
  const loaded = await LocalModel.load(library, 'm.gguf', { contextTokens: 8192, threads: 1, folder });
  return { model: loaded, steps, folder };
}

const TOOLS = [{ name: 'look_up', description: 'Looks up.', parameters: { type: 'object', properties: {} } }];
const CONVERSATION: readonly ChatMessage[] = [
  { role: 'system', content: 'You answer.' },
  {
    role: 'user',
    content: 'Question: who?\nDocument: Ida.',
    parts: [
      { kind: 'structure', text: 'Question: ' },
      { kind: 'question', text: 'who?' },
      { kind: 'structure', text: '\nDocument: ' },
      { kind: 'file', text: 'Ida.' },
    ],
  },
  { role: 'assistant', content: '', toolCalls: [{ id: '1', name: 'look_up', arguments: { word: 'Ida' } }] },
  { role: 'tool', toolCallId: '1', name: 'look_up', content: 'Nothing.' },
];

test.each(['tools of its own', 'no tools'] as const)(
  'with a template that knows %s, the tokens of the parts of a prompt sum to all, each of its kind',
  async (template) => {
    const { model } = await loadModel(template);
    const { tokens, parts } = model.tokenize(CONVERSATION, TOOLS);
    expect(parts.reduce((sum, part) => sum + part.tokens, 0)).toBe(tokens.length);
    const sums = new Map<string, number>();
    for (const part of parts) sums.set(part.kind, (sums.get(part.kind) ?? 0) + part.tokens);
    expect([...sums.keys()].sort()).toEqual(
      ['file', 'history', 'question', 'structure', 'system', 'tool_result', 'tools'].sort(),
    );
    // A token belongs to the part in which it begins.
    expect([sums.get('question'), sums.get('file'), sums.get('system')]).toEqual([2, 2, 6]);
    expect(sums.get('tools')).toBeGreaterThan(JSON.stringify(TOOLS).length / 2 - 1);
    expect(sums.get('history')).toBeGreaterThan('{"word":"Ida"}'.length / 2 - 1);
  },
);

async function answer(model: LocalModel, messages: readonly ChatMessage[]) {
  const replies = model.generate(model.tokenize(messages, []), {
    ...{ maxTokens: 100, temperature: 0, seed: 1, tools: TOOLS, mustCall: false, stop: [] },
    signal: new AbortController().signal,
  });
  for (;;) {
    const part = await replies.next();
    if (part.done === true) return part.value;
  }
}

test('the tokens of a reply are those of its words and of its calls', async () => {
  const { model } = await loadModel('no tools');
  expect(await answer(model, CONVERSATION)).toEqual({ finish: 'stop', tokens: 9, callTokens: 6 });
});

test('roles that take turns each read their opening once, and the openings on disk have a bound', async () => {
  const { model, steps, folder } = await loadModel('no tools');
  const { stepTokens } = LLAMA_LIMITS;
  const ask = async (role: string, question: string) => {
    steps.length = 0;
    await answer(model, [
      { role: 'system', content: role.repeat(stepTokens * 4) },
      { role: 'user', content: question },
    ]);
    return steps.join(' ');
  };
  const whole = new RegExp(`^(read ${stepTokens} ){2}keep ${2 * stepTokens} read \\d+$`);
  const again = new RegExp(`^restore ${2 * stepTokens} read \\d+$`);
  expect(await ask('a', 'who?')).toMatch(whole);
  expect(await ask('b', 'who?')).toMatch(whole);
  expect(await ask('a', 'when?')).toMatch(again);
  expect(await ask('a', 'when and where?')).toMatch(/^read \d+$/);
  expect(await ask('c', 'who?')).toMatch(whole);
  expect(readdirSync(folder)).toHaveLength(2);
  // The one that was not used for the longest time is gone.
  expect(await ask('a', 'who?')).toMatch(again);
  expect(await ask('b', 'who?')).toMatch(whole);
});
