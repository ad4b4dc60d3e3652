import { expect, test } from 'vitest';
import { startModelServer } from '../../fixtures/model-server.ts';
import { MODEL_ENGINES, serve } from '../testing/engine-under-test.ts';
import { explainInability, formatCapabilities } from './model-abilities.ts';
import { queryModelCapabilities } from './registry.ts';

const environment = {};
const auto = { toolCalls: 'auto', needsTools: true } as const;
const native = { toolCalls: 'native', needsTools: true } as const;

test('what a model can do is what its server says: of Ollama', async () => {
  const { url: host } = await serve([], {
    models: ['gemma3:latest', 'qwen3:latest'],
    capabilities: ['completion', 'vision'],
    contextTokens: 8192,
  });
  const abilities = await queryModelCapabilities('ollama', { host, model: 'gemma3', environment });
  expect(abilities).toMatchObject({
    chats: true,
    tools: false,
    vision: true,
    thinking: false,
    contextTokens: 8192,
    others: [{ name: 'gemma3:latest' }, { name: 'qwen3:latest' }],
  });
  if (abilities === undefined) return;
  expect(formatCapabilities(abilities, auto)).toMatch(
    /^gemma3 at .*tool calls as text.*sees pictures.*8192 tokens$/,
  );
  expect(formatCapabilities(abilities, { ...auto, context: 4096 })).toContain('4096 tokens, as set');
  expect(explainInability('team react', abilities, auto)).toBeUndefined();
  expect(explainInability('team react', abilities, { ...native, needsTools: false })).toBeUndefined();
  expect(explainInability('team react', abilities, native)).toMatch(
    /^team react calls tools, and gemma3 .*has no tool calls/,
  );
});

test('of llama.cpp, which takes every name for its one model', async () => {
  const { url: host } = await serve([], {
    models: ['qwen'],
    capabilities: ['completion', 'tools'],
    contextTokens: 16384,
  });
  const abilities = await queryModelCapabilities('openai', { host, model: 'other', environment });
  expect(abilities).toMatchObject({ isThere: null, tools: true, vision: false, contextTokens: 16384 });
  if (abilities !== undefined)
    expect(formatCapabilities(abilities, auto)).toContain('its list does not name other (but qwen)');
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
