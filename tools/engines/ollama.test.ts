import http from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { type ScriptedReply, startModelServer } from '../fixtures/model-server.ts';
import { realPace } from '../http/service.ts';
import { loadEngine, queryModelCapabilities } from './registry.ts';
import { expectFailure, PROMPT, serve, step, underTest } from './testing/engine-under-test.ts';

const { performAt } = underTest('ollama');
const ANNA: ScriptedReply = { content: { answer: 'Anna' } };

/** Returns a stream of these lines as they are. */
const streamOf = (...lines: readonly object[]): ScriptedReply => ({
  raw: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  headers: { 'Content-Type': 'application/x-ndjson' },
});
const says = (content: string) => ({ message: { role: 'assistant', content }, done: false });
const END = { message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop' };

test('asks with the model, the rendered prompt, the reply schema, and the options inside `options`', async () => {
  const server = await serve([ANNA]);
  const { outcome } = await performAt(server.url, {
    model: 'llama3.2',
    options: { temperature: 0.5, top_k: 3 },
  });
  expect(outcome).toEqual({ answer: 'Anna' });
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]?.body).toMatchObject({
    model: 'llama3.2',
    stream: true,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Ask: Wer war es?' },
    ],
    format: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
    options: { seed: 1, temperature: 0.5, num_ctx: 8192, top_k: 3 },
  });
  expect(server.requests[0]?.body).not.toHaveProperty('seed');
});

test('the model is gemma-7b-it unless another is named', async () => {
  const server = await serve([ANNA]);
  const engine = await loadEngine('ollama', { host: server.url, prompts: () => PROMPT });
  await engine.perform(step, { signal: new AbortController().signal, countTokens: () => undefined });
  expect(server.requests[0]?.model).toBe('gemma-7b-it');
});

test('a prompt that does not fit the context is to be refused, not cut', async () => {
  const server = await serve([{ status: 400, error: 'the input length exceeds the context length' }]);
  const { outcome } = await performAt(server.url);
  expect(server.requests[0]?.body).toMatchObject({ truncate: false, shift: false });
  expectFailure(outcome, 'cannot take the whole prompt', 'num_ctx');
});

test('a figure that the server leaves out counts as 0', async () => {
  const server = await serve([streamOf(says('{"answer":"Anna"}'), { ...END, eval_count: 18 })]);
  expect(await performAt(server.url)).toMatchObject({ outcome: { answer: 'Anna' }, tokens: 18 });
});

test.each([1, 3, 1000])(
  'a reply in pieces of %i bytes is whole, characters of several bytes too',
  async (pieceBytes) => {
    const answer = 'Zoë 😀 Tõnuvere 漢字';
    const { raw = '' } = streamOf(says('{"answer":"Zoë 😀 Tõn'), says('uvere 漢字"}'), END);
    const server = http.createServer(async (request, response) => {
      await request.resume().toArray();
      const bytes = Buffer.from(raw);
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        response.write(bytes.subarray(at, at + pieceBytes));
        await setImmediate();
      }
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const host = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    expect((await performAt(host)).outcome).toEqual({ answer });
  },
);

test('an error in the middle of the stream is the failure, whatever was said before', async () => {
  const error = { error: 'an error was encountered while running the model' };
  const server = await serve([streamOf(says('{"answer":"Anna"}'), error)]);
  const { outcome, tokens } = await performAt(server.url);
  expectFailure(outcome, 'in the middle of its reply (6 times)', error.error);
  expect(tokens).toBe(0);
});

test('lines that are not in the documented format fail', async () => {
  const server = await serve([streamOf({ reply: { content: 7 } })]);
  expectFailure((await performAt(server.url)).outcome, "does not speak Ollama's format", 'expected message');
});

const BUSY: ScriptedReply = {
  status: 503,
  error: 'server busy, please try again.  maximum pending requests exceeded',
};

test('a server that stays busy is asked six times, then it is said (RA-24)', async () => {
  const server = await serve([BUSY]);
  const { outcome } = await performAt(server.url);
  expectFailure(outcome, 'busy 6 times', 'maximum pending requests', 'OLLAMA_MAX_QUEUE');
  expect(server.requests).toHaveLength(6);
});

test('waiting for a busy server ends at once when the run does', async () => {
  const end = new AbortController();
  const server = await serve(() => {
    void setImmediate().then(() => end.abort());
    return { ...BUSY, headers: { 'Retry-After': '3600' } };
  });
  expectFailure((await performAt(server.url, { pace: realPace }, end.signal)).outcome, 'the run ended');
});

test.each([
  ['llama3.2', 'ollama pull llama3.2'],
  // Ollama's library has no model of that name, so a plain pull would fail.
  ['gemma-7b-it', 'ollama pull gemma:7b-instruct && ollama cp gemma:7b-instruct gemma-7b-it'],
])('a missing model %s: how to get it', async (model, command) => {
  const server = await serve([{ status: 404, error: `model '${model}' not found` }]);
  expectFailure((await performAt(server.url, { model })).outcome, `\`${command}\``);
});

test('a 404 that is not about a model: not an Ollama server', async () => {
  const server = await serve([
    { status: 404, raw: 'page not found', headers: { 'Content-Type': 'text/plain' } },
  ]);
  expectFailure((await performAt(server.url)).outcome, 'is not an Ollama server');
});

test.each([
  // A refused schema is asked for once as JSON and once in words; the rest is the server's own affair.
  [400, 3, '{"error":"\\"m\\" does not support thinking"}', '"m" does not support thinking'],
  [500, 6, '{"error":"the model failed to generate a response"}', 'the model failed to generate a response'],
  [502, 6, '<html>Bad Gateway</html>', '<html>Bad Gateway</html>'],
  [500, 6, '', 'Internal Server Error'],
  [500, 1, '{"error":"model requires more system memory"}', 'more system memory'],
])('HTTP %i is told with its reason, after %i requests', async (status, times, raw, reason) => {
  const server = await serve([{ status, raw, headers: { 'Content-Type': 'text/html' } }]);
  expectFailure((await performAt(server.url)).outcome, `HTTP ${status}`, reason);
  expect(server.requests).toHaveLength(times);
});

test('no server: how to start one', async () => {
  const server = await startModelServer([]);
  await server.close();
  const { outcome } = await performAt(server.url);
  const words = ['`ollama serve`', 'https://ollama.com'];
  expectFailure(outcome, `no Ollama server at ${server.url}`, ...words);
});

test('a reply that reached its limit but is whole counts', async () => {
  const server = await serve([{ ...ANNA, finish: 'length' }]);
  expect((await performAt(server.url)).outcome).toEqual({ answer: 'Anna' });
});

test('a server without models is told from another program on its port, and from none', async () => {
  const empty = await serve([], { models: [] });
  expect(await queryModelCapabilities('ollama', { host: empty.url })).toMatchObject({
    isThere: false,
    others: [],
  });
  const server = http.createServer((_, response) => response.end('hello'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const host = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  expect(await queryModelCapabilities('ollama', { host })).toMatchObject({ isThere: null });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  const asked = queryModelCapabilities('ollama', { host });
  expectFailure(await asked.catch((error: unknown) => error), '`ollama serve`');
});
