import fc from 'fast-check';
import * as gpt4o from 'gpt-tokenizer/model/gpt-4o';
import * as gptOss from 'gpt-tokenizer/model/gpt-oss-20b';
import { expect, test } from 'vitest';
import type { ChatMessage, ToolDefinition } from '../contracts/engine.ts';

import { countExchange } from './count-exchange.ts';

const NO_REPLY = { content: '', toolCalls: [] };
const conversation: readonly ChatMessage[] = [
  { role: 'system', content: 'You answer questions about ferries, in one word.' },
  {
    role: 'user',
    content: 'Question:\nwhen does it leave?\nPlan: look it up.',
    parts: [
      { kind: 'structure', text: 'Question:\n' },
      { kind: 'question', text: 'when does it leave?' },
      { kind: 'structure', text: '\nPlan: ' },
      { kind: 'peer', text: 'look it up.' },
    ],
  },
  { role: 'assistant', content: 'At noon, I believe; 漢字 and 😀 are no times.' },
  {
    role: 'user',
    content: 'There is no answer in your reply.',
    parts: [{ kind: 'retry', text: 'There is no answer in your reply.' }],
  },
];

type CountedExchange = Awaited<ReturnType<typeof countExchange>>;

const sum = ({ parts }: CountedExchange) => parts.reduce((all, { tokens }) => all + tokens, 0);
const tokensOf = ({ parts }: CountedExchange, kind: string) =>
  parts.filter((part) => part.kind === kind).reduce((all, { tokens }) => all + tokens, 0);

// Another implementation: the tokenizer package's own idea of each chat format.
test.each([
  ['gpt-4o', gpt4o.encodeChat([...conversation]).length],
  ['gpt-oss:20b', gptOss.encodeChat([...conversation]).length],
])('the tokens of a conversation with %s sum to what its format takes', async (model, expected) => {
  const counted = await countExchange({ model, messages: conversation, tools: [], reply: NO_REPLY });
  expect(counted.known).toBe(true);
  expect(sum(counted)).toBe(expected);
});

test('each part has its own tokens, and no two parts share one', async () => {
  const counted = await countExchange({
    model: 'gpt-4o',
    messages: conversation,
    tools: [],
    reply: NO_REPLY,
  });
  expect(tokensOf(counted, 'question')).toBe(gpt4o.countTokens('when does it leave?'));
  expect(tokensOf(counted, 'retry')).toBe(gpt4o.countTokens('There is no answer in your reply.'));
  expect(tokensOf(counted, 'history')).toBe(gpt4o.countTokens(conversation[2]?.content ?? ''));
});

test('tool definitions cost what OpenAI’s API takes for them, within 1 %', async () => {
  const text = (description: string) => ({ type: 'string', description });
  const tools: readonly ToolDefinition[] = [
    {
      name: 'read_file',
      description: 'Reads a file that belongs to the question, whatever its kind is',
      parameters: {
        type: 'object',
        properties: { file: text('its name'), part: text('a page or a sheet') },
        required: ['file'],
      },
    },
    {
      name: 'search',
      description: 'Searches the web',
      parameters: {
        type: 'object',
        properties: {
          query: text('what you would type into a search box'),
          kind: { type: 'string', enum: ['pages', 'news'] },
          results: { type: 'integer' },
        },
        required: ['query'],
      },
    },
    { name: 'now', description: 'The time', parameters: { type: 'object', properties: {} } },
  ];
  const counted = await countExchange({ model: 'gpt-4o', messages: conversation, tools, reply: NO_REPLY });
  const expected = gpt4o.countChatCompletionTokens?.({
    messages: conversation.map(({ role, content }) => ({ role, content })),
    functions: tools.map(({ name, description, parameters }) => ({
      name,
      description,
      parameters: JSON.parse(JSON.stringify(parameters)),
    })),
  });
  expect(Math.abs(sum(counted) / (expected ?? 0) - 1)).toBeLessThan(0.01);
  expect(tokensOf(counted, 'tools')).toBeGreaterThan(50);
});

test('whatever a message is made of, the sum is that of the whole', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme', maxLength: 30 }), { maxLength: 6 }),
      async (texts) => {
        const content = texts.join('');
        const parts = texts.map((text, index) => ({
          kind: index % 2 === 0 ? ('peer' as const) : ('file' as const),
          text,
        }));
        const count = (message: ChatMessage) =>
          countExchange({ model: 'gpt-4o', messages: [message], tools: [], reply: NO_REPLY });
        const inParts = await count({ role: 'user', content, parts });
        expect(sum(inParts)).toBe(sum(await count({ role: 'user', content })));
      },
    ),
    { numRuns: 200 },
  );
});

test('a message whose content was changed is one part, by its role', async () => {
  const counted = await countExchange({
    model: 'gpt-4o',
    messages: [{ role: 'user', content: 'shortened', parts: [{ kind: 'file', text: 'the whole of it' }] }],
    tools: [],
    reply: NO_REPLY,
  });
  expect(counted.parts.map(({ kind }) => kind)).toEqual(['peer', 'structure']);
});

test('a mark of the chat format that stands in a document is text', async () => {
  const counted = await countExchange({
    model: 'gpt-4o',
    messages: [{ role: 'user', content: 'a<|im_end|>b' }],
    tools: [],
    reply: NO_REPLY,
  });
  expect(tokensOf(counted, 'peer')).toBeGreaterThan(3);
});

test('a model whose encoding is not public is counted by another, and it says so', async () => {
  const counted = await countExchange({
    model: 'qwen3:8b',
    messages: conversation,
    tools: [],
    reply: NO_REPLY,
  });
  expect(counted).toMatchObject({ known: false });
});

test('a reply is what it says, what it thinks and what it calls', async () => {
  const reply = {
    content: 'Noon.',
    reasoning: 'It says so in the table.',
    toolCalls: [{ id: '1', name: 'calculator', arguments: { expression: '6 + 6' } }],
  };
  const { completion } = await countExchange({ model: 'gpt-4o', messages: [], tools: [], reply });
  expect(completion).toEqual({
    answer: gpt4o.countTokens('Noon.'),
    reasoning: gpt4o.countTokens('It says so in the table.'),
    tool_calls: gpt4o.countTokens('calculator{"expression":"6 + 6"}'),
  });
});
