import http from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { startModelServer } from '../fixtures/model-server.ts';
import { explainInability, formatCapabilities } from './capabilities.ts';
import { queryModelCapabilities } from './registry.ts';
import { MODEL_ENGINES, serve } from './testing/engine-under-test.ts';

const environment = {};
const auto = { toolCalls: 'auto', needsTools: true } as const;
const native = { toolCalls: 'native', needsTools: true } as const;

test('what a model can do is what its server says: of Ollama', async () => {
  const { url: host } = await serve([], {
    models: ['gemma3:latest', 'qwen3:latest'],
    capabilities: ['completion', 'vision'],
    contextTokens: 8192,
  });
  const capabilities = await queryModelCapabilities('ollama', { host, model: 'gemma3', environment });
  expect(capabilities).toMatchObject({
    chats: true,
    tools: false,
    vision: true,
    thinking: false,
    contextTokens: 8192,
    others: [{ name: 'gemma3:latest' }, { name: 'qwen3:latest' }],
  });
  if (capabilities === undefined) return;
  expect(formatCapabilities(capabilities, auto)).toMatch(
    /^gemma3 at .*tool calls as text.*sees pictures.*8192 tokens$/,
  );
  expect(formatCapabilities(capabilities, { ...auto, context: 4096 })).toContain('4096 tokens, as set');
  expect(explainInability('team react', capabilities, auto)).toBeUndefined();
  expect(explainInability('team react', capabilities, { ...native, needsTools: false })).toBeUndefined();
  expect(explainInability('team react', capabilities, native)).toMatch(
    /^team react calls tools, and gemma3 .*has no tool calls/,
  );
});

test('of llama.cpp, which takes every name for its one model', async () => {
  const { url: host } = await serve([], {
    models: ['qwen'],
    capabilities: ['completion', 'tools'],
    contextTokens: 16384,
  });
  const capabilities = await queryModelCapabilities('openai', { host, model: 'other', environment });
  expect(capabilities).toMatchObject({ isThere: null, tools: true, vision: false, contextTokens: 16384 });
  if (capabilities !== undefined)
    expect(formatCapabilities(capabilities, auto)).toContain('its list does not name other (but qwen)');
});

describe('of a server that lists models as OpenAI does', () => {
  let list: unknown;
  const known: Record<string, number> = { '/v1/models/alias': 200, '/v1/models/secret': 403 };
  const server = http.createServer((request, response) => {
    const { url = '' } = request;
    const body = url === '/v1/models' ? list : { id: 'newest', error: { message: 'no' } };
    const status = url === '/v1/models' ? 200 : (known[url] ?? 404);
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  });
  let host: string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    host = `http://127.0.0.1:${z.object({ port: z.int() }).parse(server.address()).port}`;
  });
  afterAll(() => server.close());

  test.each([
    ['a listed model is there', 'm', ['k', 'm'], true],
    ['so is one under Gemini’s name', 'm', ['models/m'], true],
    ['under Ollama’s', 'm', ['m:latest'], true],
    ['and a variant of OpenRouter’s', 'a/m:nitro', ['a/m'], true],
    ['one that only its own address knows is there', 'alias', ['k'], true],
    ['one that neither knows is not', 'm', ['k', 'm2'], false],
    ['one of which the server does not speak may be', 'secret', ['k'], null],
    ['nothing is known behind a pattern', 'openai/m', ['openai/*', 'k'], null],
    ['nor from an empty list', 'm', [], null],
  ])('%s', async (_, model, ids, isThere) => {
    list = { object: 'list', data: ids.map((id) => ({ id })) };
    expect(await queryModelCapabilities('openai', { host, model, environment })).toMatchObject({ isThere });
  });
});

test('a model that is not there, or only embeds, is refused by name, with those that can', () => {
  const known = {
    url: 'http://127.0.0.1:1',
    vision: null,
    thinking: null,
    schemas: null,
    contextTokens: null,
    others: [
      { name: 'embed', chats: false, tools: false },
      { name: 'gemma3', chats: true, tools: false },
      { name: 'qwen3', chats: true, tools: true },
    ],
  };
  const missing = { ...known, model: 'm', isThere: false, chats: null, tools: null };
  expect(explainInability('team react', missing, auto)).toBe(
    'http://127.0.0.1:1 has no model m; it has gemma3, qwen3',
  );
  const embeds = { ...known, model: 'embed', isThere: true, chats: false, tools: false };
  expect(explainInability('team react', embeds, auto)).toContain('answers none; these do: gemma3, qwen3');
  const plain = { ...known, model: 'gemma3', isThere: true, chats: true, tools: false };
  expect(explainInability('team react', plain, native)).toContain('these have them: qwen3;');
});

test.each(MODEL_ENGINES)(
  'of a server that says nothing nothing is known, and nobody there is an error: %s',
  async (name) => {
    const server = await startModelServer([]);
    const asked = { host: server.url, model: 'm', environment };
    expect(await queryModelCapabilities(name, asked)).toMatchObject({
      chats: null,
      vision: null,
      contextTokens: null,
    });
    await server.close();
    await expect(queryModelCapabilities(name, asked)).rejects.toMatchObject({ code: 'engine' });
  },
);

test('an engine without a model server is not asked', async () => {
  expect(await queryModelCapabilities('extractive', {})).toBeUndefined();
});
