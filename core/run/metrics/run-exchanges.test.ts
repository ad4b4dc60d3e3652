import { appendFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { Workspace } from '../../agent/workspace.ts';
import type { ModelExchange } from '../../contracts/engine.ts';
import { EXCHANGES_FILE, hashRequest } from '../../contracts/model-exchange.ts';
import { asRetry } from '../../contracts/prompt-part.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { RunExchanges } from './run-exchanges.ts';

const of = (taskId: string, packetType = 'doc_init') => ({ taskId, role: 'react', packetType });
const DOCUMENT = 'Ida built the bridge over the Orra, and it has stood for eighty years.';

/** Two turns of a conversation: the second sends all of the first again. */
function turns(): readonly [ModelExchange, ModelExchange] {
  const opening = [
    { role: 'system' as const, content: 'You answer questions.' },
    {
      role: 'user' as const,
      content: `Who built it?\n${DOCUMENT}`,
      parts: [
        { kind: 'question' as const, text: 'Who built it?\n' },
        { kind: 'file' as const, text: DOCUMENT },
      ],
    },
  ];
  const call = { id: '1', name: 'search', arguments: { query: 'bridge' } };
  const tools = [{ name: 'search', description: 'Searches', parameters: { type: 'object', properties: {} } }];
  const figures = { key: 'k', model: 'gpt-4o', tools, promptTokens: 100, completionTokens: 10 };
  return [
    { ...figures, messages: opening, reply: { content: '', toolCalls: [call], finish: 'tool_calls' } },
    {
      ...figures,
      messages: [
        ...opening,
        { role: 'assistant', content: '', toolCalls: [call] },
        { role: 'tool', toolCallId: '1', name: 'search', content: 'Nothing.' },
        { role: 'user', ...asRetry('Say it in one word.') },
      ],
      reply: { content: 'Ida', reasoning: 'It says so.', toolCalls: [], finish: 'stop' },
    },
  ];
}

function workspaceIn(folder: string): Workspace {
  return new Workspace(path.join(folder, 'a'), { id: 'a', tool: 'react', engine: 'openai' });
}

test('what each token of a task was is found in what its agent noted, and what was read again', async () => {
  const folder = temporaryFolder();
  const exchanges = new RunExchanges(folder, ['a']);
  const workspace = workspaceIn(folder);
  for (const turn of turns()) workspace.noteExchange(of('t'), turn);

  const ledger = await exchanges.ended('t');

  const prompt = ledger?.prompt ?? [];
  expect(prompt.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(200);
  expect(new Set(prompt.map(({ kind, read }) => `${kind} ${read}`))).toEqual(
    new Set([
      ...['system 1', 'tools 1', 'question 1', 'file 1', 'structure 1', 'residual 1'],
      ...['system 2', 'tools 2', 'question 2', 'file 2', 'history 1', 'tool_result 1', 'retry 1'],
    ]),
  );
  expect(ledger?.completion.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['answer', 'reasoning', 'tool_calls', 'residual']),
  );
  workspace.close();
});

test('what comes after the end of a task is in the total', async () => {
  const folder = temporaryFolder();
  const exchanges = new RunExchanges(folder, ['a']);
  const workspace = workspaceIn(folder);
  const [first, second] = turns();
  workspace.noteExchange(of('t'), first);
  await exchanges.ended('t');
  workspace.noteExchange(of('t', 'search.result'), second);
  workspace.noteExchange(of('other'), first);

  const total = await exchanges.total();

  const sums = total?.prompt.reduce((sum, { tokens }) => sum + tokens, 0) ?? 0;
  // The second turn's texts were noted before the task had ended: it is counted as one that cannot be told apart.
  expect({ sums, uncounted: total?.uncounted }).toEqual({ sums: 200, uncounted: 1 });
  workspace.close();
});

test('lines that are none of ours, and texts that are missing, are not counted as anything else', async () => {
  const folder = temporaryFolder();
  const exchanges = new RunExchanges(folder, ['a']);
  const workspace = workspaceIn(folder);
  workspace.noteExchange(of('t'), turns()[0]);
  const file = path.join(folder, 'a', EXCHANGES_FILE);
  appendFileSync(file, 'no JSON\n{"level":"warn","cut":"the log reached its bound"}\n');
  const line = {
    ...of('t'),
    task_id: 't',
    packet_type: 'x',
    key: 'k',
    model: 'm',
    messages: [{ role: 'user', parts: [['peer', 'nowhere']] }],
  };
  appendFileSync(
    file,
    `${JSON.stringify({ ...line, reply: { content: '', tool_calls: [], finish: 'stop' }, prompt_tokens: 7, completion_tokens: 1 })}\n`,
  );

  const ledger = await exchanges.ended('t');

  expect(ledger?.prompt.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(100);
  expect(ledger?.uncounted).toBe(1);
  workspace.close();
});

test('a request is named by what is asked, not by what is known of its parts', () => {
  const [first, second] = turns();
  const bare = first.messages.map((message) =>
    'parts' in message ? { role: message.role, content: message.content } : message,
  );
  expect(hashRequest({ messages: JSON.parse(JSON.stringify(bare)), tools: first.tools })).toBe(
    hashRequest(first),
  );
  expect(hashRequest(second)).not.toBe(hashRequest(first));
});

/** What an agent's file has, line by line: a text of a task, and an exchange whose only message is that text. */
const textLine = (taskId: string, text = 'Who built it?', digest = 'question') =>
  `${JSON.stringify({ task_id: taskId, digest, text })}\n`;
const exchangeLine = (taskId: string, figures: Partial<Record<string, unknown>> = {}) =>
  `${JSON.stringify({
    task_id: taskId,
    role: 'react',
    packet_type: 'doc_init',
    key: 'k',
    model: 'gpt-4o',
    messages: [{ role: 'user', parts: [['question', 'question']] }],
    reply: { content: 'yes', tool_calls: [], finish: 'stop' },
    prompt_tokens: 100,
    completion_tokens: 10,
    ...figures,
  })}\n`;

/** Exchanges of the agents `a` and `b`, and how either appends to its file. */
function readExchanges() {
  const folder = temporaryFolder();
  const append = (id: string, lines: string) => {
    mkdirSync(path.join(folder, id), { recursive: true });
    appendFileSync(path.join(folder, id, EXCHANGES_FILE), lines);
  };
  return {
    append,
    start: (bounds?: { openTasks: number; taskCharacters: number }) =>
      new RunExchanges(folder, ['a', 'b'], bounds),
  };
}

const by = { role: 'react', packet_type: 'doc_init', model: 'gpt-4o' };
/** Lines of one exchange: four words and marks of the question, seven marks of ChatML around them. */
const ONE = {
  prompt: [
    { ...by, kind: 'question', read: 1, tokens: 4 },
    { ...by, kind: 'structure', read: 1, tokens: 7 },
    { ...by, kind: 'residual', read: 1, tokens: 89 },
  ],
  completion: [
    { ...by, kind: 'answer', tokens: 1 },
    { ...by, kind: 'residual', tokens: 9 },
  ],
  estimated: false,
  uncounted: 0,
};

describe('the ledger of a task', () => {
  test('has each token on its line, with who asked, for what and which model', async () => {
    const { append, start } = readExchanges();
    const exchanges = start();
    append('a', textLine('t') + exchangeLine('t'));
    expect(await exchanges.ended('t')).toEqual(ONE);
    expect(await exchanges.total()).toEqual(ONE);
  });

  test('leaves out what earlier runs left in the files', async () => {
    const { append, start } = readExchanges();
    append('a', textLine('t') + exchangeLine('t'));
    const exchanges = start();
    expect(await exchanges.ended('t')).toBeUndefined();
    append('b', textLine('t') + exchangeLine('t'));
    expect(await exchanges.ended('t')).toEqual(ONE);
  });

  test('is of all agents, which share the texts of the task', async () => {
    const { append, start } = readExchanges();
    const exchanges = start();
    append('a', textLine('t') + exchangeLine('t'));
    append('b', exchangeLine('t') + exchangeLine('other'));
    const ledger = await exchanges.ended('t');
    expect(ledger?.prompt.map(({ kind, read, tokens }) => [kind, read, tokens])).toEqual([
      ['question', 1, 4],
      ['structure', 1, 14],
      ['residual', 1, 178],
      ['question', 2, 4],
    ]);
    expect(ledger?.uncounted).toBe(0);
    // The other task has no text of its own: texts of another do not stand in.
    expect(await exchanges.ended('other')).toMatchObject({ prompt: [], uncounted: 1 });
    expect((await exchanges.total())?.uncounted).toBe(1);
  });

  test.each([
    { prompt_tokens: null },
    { completion_tokens: null },
    { messages: [{ role: 'user', parts: [['question', 'missing']] }] },
  ])('has what is unknown on no line: %o', async (unknown) => {
    const { append, start } = readExchanges();
    const exchanges = start();
    append('a', textLine('t') + exchangeLine('t', unknown));
    expect(await exchanges.ended('t')).toEqual({
      prompt: [],
      completion: [],
      estimated: false,
      uncounted: 1,
    });
  });

  test('is an estimate for a model whose encoding is not public', async () => {
    const { append, start } = readExchanges();
    const exchanges = start();
    append('a', textLine('t') + exchangeLine('t', { model: 'qwen3' }));
    expect((await exchanges.ended('t'))?.estimated).toBe(true);
  });

  test.each([
    { prompt_tokens: -1 },
    { completion_tokens: 0.5 },
    { role: 1 },
    { key: 'k'.repeat(25) },
    { model: undefined },
  ])('leaves out a line that is no exchange: %o', async (wrong) => {
    const { append, start } = readExchanges();
    const exchanges = start();
    append('a', textLine('t') + exchangeLine('t', wrong));
    // The task is known by its text, and asked nothing.
    expect(await exchanges.ended('t')).toBeUndefined();
    expect(await exchanges.total()).toBeUndefined();
  });
});

test('the total is of all tasks, whether they had ended or not', async () => {
  const { append, start } = readExchanges();
  const exchanges = start();
  append('a', textLine('t') + exchangeLine('t'));
  await exchanges.ended('t');
  append('a', textLine('u') + exchangeLine('u'));
  append('b', textLine('v') + exchangeLine('v'));

  const total = await exchanges.total();

  // A part that is new in each task is read for the first time there.
  expect(total?.prompt.map(({ read, tokens }) => [read, tokens])).toEqual([
    [1, 12],
    [1, 21],
    [1, 267],
  ]);
  expect(total?.completion.map(({ tokens }) => tokens)).toEqual([3, 27]);
  expect(await exchanges.total()).toEqual(total);
});

describe('the bounds of what is kept', () => {
  test('are a number of open tasks: one that ends makes room', async () => {
    const { append, start } = readExchanges();
    const exchanges = start({ openTasks: 3, taskCharacters: 10_000 });
    append('a', textLine('o1') + textLine('o2') + textLine('last') + textLine('late'));
    append('a', exchangeLine('last') + exchangeLine('late'));
    expect(await exchanges.ended('late')).toBeUndefined();
    expect(await exchanges.ended('last')).toEqual(ONE);
    append('a', textLine('late') + exchangeLine('late'));
    expect(await exchanges.ended('late')).toEqual(ONE);
  });

  test('are the characters of each task, to the character', async () => {
    const { append, start } = readExchanges();
    const exchange = exchangeLine('t');
    const question = 'Who built it?';
    const taskCharacters = 1000 + question.length + exchange.length - 1;
    const exchanges = start({ openTasks: 10, taskCharacters });
    append('a', textLine('t', question) + textLine('t', 'x'.repeat(1000), 'long'));
    // The first one fills the task; the second one is too much for it, and for no other.
    append('a', exchange + exchange + textLine('u') + exchangeLine('u'));
    expect(await exchanges.ended('t')).toEqual(ONE);
    expect(await exchanges.ended('u')).toEqual(ONE);
  });

  test('hold a run of four thousand questions and prompts of millions of characters', async () => {
    const { append, start } = readExchanges();
    const exchanges = start();
    append('a', Array.from({ length: 4000 }, (_, task) => textLine(`o${task}`)).join(''));
    append('a', textLine('t', 'x'.repeat(5_000_000), 'long') + textLine('t') + exchangeLine('t'));
    expect(await exchanges.ended('t')).toEqual(ONE);
  });
});
