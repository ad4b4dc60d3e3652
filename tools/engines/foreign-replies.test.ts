import http from 'node:http';
import type { ToolCall } from '@gaia-mesh/core/contracts/engine.ts';
import type { Warning } from '@gaia-mesh/core/contracts/warning.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hello, underTest, weather } from './testing/engine-under-test.ts';

/** Replies of model servers as people report them. To add a case, add a row: what the server sends, and what is read. */

type Wire = 'openai' | 'anthropic' | 'ollama';
interface Case {
  readonly wire: Wire;
  readonly name: string;
  /** The bodies of events, or the lines, of a stream; a text is sent whole. */
  readonly sends: readonly object[] | string;
  readonly content?: string;
  readonly calls?: readonly unknown[];
  readonly reasoning?: string;
  readonly usage?: readonly [prompt: number | null, completion: number | null];
  /** Words of the failure. */
  readonly fails?: string;
  readonly lost?: readonly string[];
  readonly emptied?: string;
}

const delta = (more: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta: more, finish_reason: finish }],
});
const call = (more: object, id?: string, index?: number | null) =>
  delta({ tool_calls: [{ index, id, type: 'function', function: more }] });
const oslo = { name: 'get_weather', arguments: '{"city":"Oslo"}' };
const bergen = { name: 'get_weather', arguments: '{"city":"Bergen"}' };
const both = [{ city: 'Oslo' }, { city: 'Bergen' }];
const end = delta({}, 'tool_calls');
const stop = delta({}, 'stop');
const openai = (
  name: string,
  sends: Case['sends'],
  expected: Omit<Case, 'wire' | 'name' | 'sends'>,
): Case => ({ wire: 'openai', name, sends, ...expected });
const start = (index: number | null, block: object) => ({
  type: 'content_block_start',
  index,
  content_block: block,
});
const piece = (index: number | null, more: object) => ({ type: 'content_block_delta', index, delta: more });
const message = (reason: string | null, usage: object | null = null) => ({
  type: 'message_delta',
  delta: { stop_reason: reason },
  usage,
});
const anthropic = (
  name: string,
  sends: Case['sends'],
  expected: Omit<Case, 'wire' | 'name' | 'sends'>,
): Case => ({ wire: 'anthropic', name, sends, ...expected });
const ollama = (
  name: string,
  sends: Case['sends'],
  expected: Omit<Case, 'wire' | 'name' | 'sends'>,
): Case => ({ wire: 'ollama', name, sends, ...expected });
const QUOTA = 'the quota of the upstream is used up';

const CASES: readonly Case[] = [
  openai('two ids at one index', [call(oslo, 'a', 0), call(bergen, 'b', 0), end], { calls: both }),
  openai('two calls at one index without ids', [call(oslo, undefined, 0), call(bergen, undefined, 0), end], {
    calls: both,
  }),
  openai('two calls at one index with one id', [call(oslo, 'a', 0), call(bergen, 'a', 0), end], {
    calls: both,
  }),
  openai('index null', [call(oslo, 'a', null), call(bergen, 'b', null), end], { calls: both }),
  openai('no index and no ids', [call(oslo), call(bergen), end], { calls: both }),
  openai(
    'pieces without an index',
    [
      call({ name: 'get_weather', arguments: '' }, 'a'),
      call({ arguments: '{"city":' }),
      call({ arguments: '"Oslo"}' }),
      end,
    ],
    { calls: both.slice(0, 1) },
  ),
  openai(
    'the name in each piece',
    [
      call({ name: 'get_weather', arguments: '{"city":' }, 'a', 0),
      call({ name: 'get_weather', arguments: '"Oslo"}' }, 'a', 0),
      call({ name: 'get_weather', arguments: '' }, 'a', 0),
      end,
    ],
    { calls: both.slice(0, 1) },
  ),
  openai(
    'arguments as an object',
    [call({ name: 'get_weather', arguments: { city: 'Oslo' } }, 'a', 0), end],
    { calls: both.slice(0, 1) },
  ),
  openai(
    'a whole number beyond 2^53',
    [call({ name: 'get_weather', arguments: '{"id":2512292042121000001}' }, 'a', 0), end],
    { calls: [{ id: { $number: '2512292042121000001' } }] },
  ),
  openai(
    'content as a list of parts',
    [
      delta({ content: [] }),
      delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'let me see' }] }] }),
      delta({ content: [{ type: 'text', text: '4' }] }),
      delta({ content: [{ type: 'text', text: '2' }] }),
      stop,
    ],
    { content: '42', reasoning: 'let me see' },
  ),
  openai(
    'a whole reply of parts',
    '{"choices":[{"message":{"content":[{"type":"text","text":"42"},{"type":"card","x":1}]},"finish_reason":"stop"}]}',
    { content: '42', lost: ['a part of type card'] },
  ),
  openai('half a character in each chunk', '{"choices":[{"message":{"content":"42 \\ud83d\\ude00"}}]}', {
    content: '42 😀',
  }),
  openai('a cut character', '{"choices":[{"message":{"content":"42 \\ud83d"}}]}', {
    content: '42 \ufffd',
    lost: ['half a character'],
  }),
  openai(
    'usage with a fraction and null',
    [delta({ content: '42' }), stop, { choices: [], usage: { prompt_tokens: null, completion_tokens: 2.5 } }],
    { content: '42', usage: [null, null], lost: ['usage.completion_tokens is 2.5'] },
  ),
  openai('usage null', [delta({ content: '42' }), stop, { choices: [], usage: null }], {
    content: '42',
    usage: [null, null],
  }),
  openai('an error with HTTP 200', `{"error":{"message":"${QUOTA}","code":402},"user_id":"u"}`, {
    fails: QUOTA,
  }),
  openai('an error as a text with HTTP 200', `{"error":"${QUOTA}"}`, { fails: QUOTA }),
  openai('no choices but a message', `{"object":"error","message":"${QUOTA}"}`, { fails: QUOTA }),
  openai(
    'an error in the stream',
    [delta({ content: 'FINAL ANSW' }), { error: { message: QUOTA, code: 402 } }],
    { fails: QUOTA },
  ),
  openai('finish_reason error', [delta({ content: 'FINAL ANSW' }), delta({}, 'error')], {
    fails: 'it was ended for the reason "error"',
  }),
  openai(
    'finish_reason error, told',
    [delta({ content: 'FINAL ANSW' }), { ...delta({}, 'error'), error: { code: 402, message: QUOTA } }],
    { fails: QUOTA },
  ),
  openai(
    'finish_reason abort, whole',
    '{"choices":[{"message":{"content":"FINAL"},"finish_reason":"abort"}]}',
    { fails: '"abort"' },
  ),
  openai(
    'all words in the reasoning',
    [delta({ content: '', reasoning: 'The answer' }), delta({ content: '', reasoning: ' is 42.' }), stop],
    {
      content: '',
      reasoning: 'The answer is 42.',
      emptied: 'reasoning_effort=none',
      lost: ['all its words into the field for thoughts'],
    },
  ),
  openai(
    'a stream under the type of a whole',
    `: ping\n\ndata: ${JSON.stringify(delta({ content: '42' }))}\n\ndata: ${JSON.stringify(stop)}\n\ndata: [DONE]\n\n`,
    { content: '42' },
  ),
  openai('half a stream under the type of a whole', `data: ${JSON.stringify(delta({ content: '42' }))}\n\n`, {
    fails: 'the stream ended after 2 characters',
  }),
  openai('a page', '<html>', {
    fails:
      "does not speak OpenAI's format (expected JSON, came <html>): check that this is the URL of the API",
  }),
  openai('a reply of another kind', '{"answer":42}', { fails: 'expected choices' }),
  anthropic(
    'two blocks at one index',
    [
      start(0, { type: 'tool_use', id: 'a', name: 'get_weather', input: {} }),
      piece(0, { partial_json: '{"city":"Oslo"}' }),
      start(0, { type: 'tool_use', id: 'b', name: 'get_weather', input: {} }),
      piece(0, { partial_json: '{"city":"Bergen"}' }),
      message('tool_use'),
    ],
    { calls: both },
  ),
  anthropic(
    'blocks without index and id',
    [
      start(null, { type: 'tool_use', name: 'get_weather', input: { city: 'Oslo' } }),
      start(null, { type: 'tool_use', name: 'get_weather', input: { city: 'Bergen' } }),
      message('tool_use'),
    ],
    { calls: both },
  ),
  anthropic(
    'a number beyond 2^53, whole',
    '{"content":[{"type":"tool_use","id":"a","name":"get_weather","input":{"id":9007199254740993}}],"stop_reason":"tool_use"}',
    { calls: [{ id: { $number: '9007199254740993' } }] },
  ),
  anthropic(
    'a text in place of blocks',
    '{"content":"42","stop_reason":"end_turn","usage":{"input_tokens":"7","output_tokens":1.5}}',
    { content: '42', usage: [7, null], lost: ['usage.output_tokens is 1.5'] },
  ),
  anthropic(
    'an unknown block',
    '{"content":[{"type":"text","text":"42"},{"type":"hologram"}],"stop_reason":"end_turn"}',
    { content: '42', lost: ['a part of type hologram'] },
  ),
  anthropic(
    'an error with HTTP 200',
    `{"type":"error","error":{"type":"billing_error","message":"${QUOTA}"}}`,
    { fails: QUOTA },
  ),
  anthropic(
    'thoughts alone',
    [start(0, { type: 'thinking', thinking: '' }), piece(0, { thinking: 'It is 42.' }), message('end_turn')],
    { content: '', reasoning: 'It is 42.', emptied: 'options.thinking', lost: ['field for thoughts'] },
  ),
  anthropic('stop_reason error', [start(0, { type: 'text', text: 'FINAL' }), message('error')], {
    fails: '"error"',
  }),
  ollama(
    'arguments as a text, no ids, content null',
    [
      {
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [
            { function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
            { function: { name: 'get_weather', arguments: { city: 'Bergen' } } },
          ],
        },
      },
      { done: true, done_reason: 'stop' },
    ],
    { calls: both },
  ),
  ollama(
    'a count that is a fraction',
    [{ message: { content: '42' } }, { message: {}, done: true, prompt_eval_count: 3, eval_count: 2.5 }],
    { content: '42', usage: [3, null], lost: ['eval_count is 2.5'] },
  ),
  ollama('an error with HTTP 200', `{"error":"${QUOTA}"}`, { fails: QUOTA }),
  ollama(
    'thoughts alone',
    [
      { message: { content: '', thinking: 'It is 42.' } },
      { message: { content: '' }, done: true, done_reason: 'stop' },
    ],
    { content: '', reasoning: 'It is 42.', emptied: 'Ollama', lost: ['field for thoughts'] },
  ),
];

let url = '';
let sends: Case['sends'] = '';
let wire: Wire = 'openai';
const server = http.createServer((request, response) => {
  request.resume().on('end', () => {
    if (request.method !== 'POST' || !/completions|messages|api\/chat$/.test(request.url ?? ''))
      return response.writeHead(404).end();
    if (typeof sends === 'string')
      return response.writeHead(200, { 'Content-Type': 'application/json' }).end(sends);
    const texts = sends.map((one) =>
      wire === 'ollama' ? `${JSON.stringify(one)}\n` : `data: ${JSON.stringify(one)}\n\n`,
    );
    const type = wire === 'ollama' ? 'application/x-ndjson' : 'text/event-stream';
    return response
      .writeHead(200, { 'Content-Type': type })
      .end(texts.join('') + (wire === 'openai' ? 'data: [DONE]\n\n' : ''));
  });
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe('a reply of a model server', () => {
  test.each(CASES.map((row) => [row.wire, row.name, row] as const))(
    'in the format of %s: %s',
    async (name, _what, row) => {
      ({ sends, wire } = row);
      const { engineAt, chatOf } = underTest(name);
      const warnings: Warning[] = [];
      const { engine, workFor, usages } = await engineAt(url, { options: { max_retries: 0 } });
      const work = {
        ...workFor(new AbortController().signal),
        onWarning: (warning: Warning) => warnings.push(warning),
      };
      const outcome = await chatOf(engine)({ messages: [hello], tools: [weather] }, work).catch(
        (error: Error) => ({ failed: error.message }),
      );
      if (row.fails !== undefined) {
        expect(outcome).toEqual({ failed: expect.stringContaining(row.fails) });
        return;
      }
      const { content = '', calls = [], reasoning, usage, lost = [], emptied } = row;
      expect(outcome).toMatchObject({ content, reasoning });
      expect(Object(outcome).toolCalls.map((made: ToolCall) => made.arguments)).toEqual(calls);
      expect(Object(outcome).emptied).toEqual(
        emptied === undefined ? undefined : expect.stringContaining(emptied),
      );
      expect(warnings.map(({ why }) => why)).toEqual(lost.map((why) => expect.stringContaining(why)));
      if (usage !== undefined) expect([usages[0]?.promptTokens, usages[0]?.completionTokens]).toEqual(usage);
    },
  );
});
