import http from 'node:http';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { afterEach, expect, test } from 'vitest';
import * as z from 'zod';
import {
  type FixtureReply,
  type FixtureScript,
  type OllamaFixture,
  replying,
  saying,
  startOllama,
} from '../fixtures/ollama-server.ts';
import { type Pace, realPace } from '../http/retry.ts';
import type { EngineOptions } from './engine-options.ts';
import { loadEngine, queryModelCapabilities } from './registry.ts';
import { PROMPT, step } from './testing/engine-under-test.ts';

/** A pace without pauses between retries. */
const pace: Pace = { random: () => 0.5, nowMs: () => 0, wait: async () => undefined };

const servers: OllamaFixture[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(script: FixtureScript, models?: readonly string[]): Promise<OllamaFixture> {
  const server = await startOllama(script, models);
  servers.push(server);
  return server;
}

async function perform(
  host: string,
  options: Partial<EngineOptions> = {},
  signal = new AbortController().signal,
) {
  let tokens = 0;
  const countTokens = (count: number) => {
    tokens += count;
  };
  const engine = await loadEngine('ollama', { host, prompts: () => PROMPT, pace, ...options });
  const outcome = await engine.perform(step, { signal, countTokens }).catch((error: unknown) => error);
  return { outcome, tokens };
}

/** Expects a failure of the engine whose message contains `words`. */
function expectFailure(outcome: unknown, ...words: string[]): void {
  expect(outcome).toBeInstanceOf(MeshError);
  expect(outcome).toMatchObject({ code: expect.stringMatching(/^(?:engine|reply)$/) });
  for (const word of words) expect((outcome as MeshError).message).toContain(word);
}

const busy = (headers: Record<string, string> = { 'Retry-After': '0' }): FixtureReply => ({
  kind: 'status',
  status: 503,
  body: '{"error":"server busy, please try again.  maximum pending requests exceeded"}',
  headers,
});

test('asks with the model, the rendered prompt, the reply schema, and the options inside `options`', async () => {
  const server = await serve([replying({ answer: 'Anna' })]);
  const { outcome } = await perform(server.url, {
    model: 'llama3.2',
    options: { temperature: 0.5, top_k: 3 },
  });
  expect(outcome).toEqual({ answer: 'Anna' });
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]).toMatchObject({
    model: 'llama3.2',
    stream: true,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Ask: Wer war es?' },
    ],
    format: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
    options: { seed: 1, temperature: 0.5, num_ctx: 8192, top_k: 3 },
  });
  expect(server.requests[0]).not.toHaveProperty('seed');
});

test('the model is gemma-7b-it unless another is named', async () => {
  const server = await serve([replying({ answer: 'Anna' })]);
  await perform(server.url);
  expect(server.requests[0]?.model).toBe('gemma-7b-it');
});

test('a prompt that does not fit the context is to be refused, not cut', async () => {
  const server = await serve([
    { kind: 'status', status: 400, body: '{"error":"the input length exceeds the context length"}' },
  ]);
  const { outcome } = await perform(server.url);
  expect(server.requests[0]).toMatchObject({ truncate: false, shift: false });
  expectFailure(outcome, 'cannot take the whole prompt', 'num_ctx');
});

test('a figure that the server leaves out counts as 0', async () => {
  const [part, done] = saying('{"answer":"Anna"}', { tokens: 18, pieces: 1 });
  const { prompt_eval_count: _, ...cached } = z.record(z.string(), z.unknown()).parse(done);
  const server = await serve([{ kind: 'lines', lines: [part ?? {}, cached] }]);
  expect(await perform(server.url)).toEqual({ outcome: { answer: 'Anna' }, tokens: 18 });
});

test.each([1, 2, 3, 5, 64, 1000])(
  'a reply in pieces of %i bytes is whole, characters of several bytes too',
  async (pieceBytes) => {
    const answer = 'Zoë 😀 Tõnuvere 漢字';
    const lines = saying(JSON.stringify({ answer }), { pieces: 9 });
    const server = await serve([{ kind: 'lines', lines, pieceBytes }]);
    expect((await perform(server.url)).outcome).toEqual({ answer });
  },
);

test('an error in the middle of the stream is the failure, whatever was said before', async () => {
  const [part] = saying('{"answer":"Anna"}', { pieces: 1 });
  const error = { error: 'an error was encountered while running the model' };
  const server = await serve([{ kind: 'lines', lines: [part ?? {}, error] }]);
  const { outcome, tokens } = await perform(server.url);
  expectFailure(outcome, 'in the middle of its reply (6 times)', error.error);
  expect(tokens).toBe(0);
});

test('lines that are not in the documented format fail', async () => {
  const server = await serve([{ kind: 'lines', lines: [{ reply: { content: 7 } }] }]);
  expectFailure((await perform(server.url)).outcome, "does not speak Ollama's format", 'expected message');
});

test('a server that stays busy is asked six times, then it is said (RA-24)', async () => {
  const server = await serve([busy()]);
  expectFailure(
    (await perform(server.url)).outcome,
    'busy 6 times',
    'maximum pending requests',
    'OLLAMA_MAX_QUEUE',
  );
  expect(server.requests).toHaveLength(6);
});

test('waiting for a busy server ends at once when the run does', async () => {
  const end = new AbortController();
  const server = await serve(() => {
    setImmediate(() => end.abort());
    return busy({ 'Retry-After': '3600' });
  });
  expectFailure((await perform(server.url, { pace: realPace }, end.signal)).outcome, 'the run ended');
});

test.each([
  ['llama3.2', 'ollama pull llama3.2'],
  // Ollama's library has no model of that name, so a plain pull would fail.
  ['gemma-7b-it', 'ollama pull gemma:7b-instruct && ollama cp gemma:7b-instruct gemma-7b-it'],
])('a missing model %s: how to get it', async (model, command) => {
  const server = await serve([
    { kind: 'status', status: 404, body: `{"error":"model '${model}' not found"}` },
  ]);
  expectFailure((await perform(server.url, { model })).outcome, `\`${command}\``);
});

test('a 404 that is not about a model: not an Ollama server', async () => {
  const server = await serve([
    { kind: 'status', status: 404, body: 'page not found', headers: { 'Content-Type': 'text/plain' } },
  ]);
  expectFailure((await perform(server.url)).outcome, 'is not an Ollama server');
});

test.each([
  // A refused schema is asked for once as JSON and once in words; the rest is the server's own affair.
  [400, 3, '{"error":"\\"m\\" does not support thinking"}', '"m" does not support thinking'],
  [500, 6, '{"error":"the model failed to generate a response"}', 'the model failed to generate a response'],
  [502, 6, '<html>Bad Gateway</html>', '<html>Bad Gateway</html>'],
  [500, 6, '', 'Internal Server Error'],
  [500, 1, '{"error":"model requires more system memory"}', 'more system memory'],
])('HTTP %i is told with its reason, after %i requests', async (status, times, body, reason) => {
  const server = await serve([{ kind: 'status', status, body, headers: { 'Content-Type': 'text/html' } }]);
  expectFailure((await perform(server.url)).outcome, `HTTP ${status}`, reason);
  expect(server.requests).toHaveLength(times);
});

test('no server: how to start one, and how to do without', async () => {
  const server = await startOllama([]);
  await server.close();
  const { outcome } = await perform(server.url);
  expectFailure(
    outcome,
    `no Ollama server at ${server.url}`,
    '`ollama serve`',
    'https://ollama.com',
    '--engine extractive',
  );
});

test('a reply that reached its limit but is whole counts', async () => {
  const server = await serve([replying({ answer: 'Anna' }, { doneReason: 'length' })]);
  expect((await perform(server.url)).outcome).toEqual({ answer: 'Anna' });
});

test('a server without models is told from another program on its port, and from none', async () => {
  const empty = await serve([], []);
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
