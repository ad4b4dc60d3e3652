import type { ModelUsage, Step } from '@gaia-mesh/core/contracts/engine.ts';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { ModelScript, ModelServer, ScriptedReply } from '../fixtures/model-server.ts';
import type { EngineOptions } from './engine-options.ts';
import { checkServer, identifyModelSource, loadEngine } from './registry.ts';
import { serve } from './testing/engine-under-test.ts';

function stepFor(reply: z.ZodType): Step {
  return {
    input: {},
    embedded: () => ({}),
    model: {
      prompt: 'ask',
      variables: () => ({}),
      reply,
      result: (value) => z.record(z.string(), z.json()).parse(value),
    },
  };
}
const answer = stepFor(z.object({ answer: z.string() }));

function engineAt(host: string, options: Partial<EngineOptions> = {}) {
  const usages: ModelUsage[] = [];
  const loading = loadEngine('openai', {
    host,
    model: 'm',
    prompts: () => '## system\n\nBe brief.\n\n## user\n\nWho?\n',
    environment: {},
    ...options,
  });
  const work = {
    signal: new AbortController().signal,
    countTokens: () => undefined,
    countUsage: (usage: ModelUsage) => usages.push(usage),
  };
  return {
    loading,
    usages,
    perform: async (step: Step) => (await loading).perform(step, work).catch((error: unknown) => error),
  };
}

const formats = (server: ModelServer) =>
  server.requests.map(
    ({ body }) => z.looseObject({ type: z.string() }).optional().parse(body.response_format)?.type,
  );

/** Starts a server that refuses requests according to `refuses`, as a server of its kind would. */
const refusing =
  (refuses: (body: ModelServer['requests'][number]['body']) => string | undefined): ModelScript =>
  ({ body }): ScriptedReply => {
    const error = refuses(body);
    return error === undefined ? { content: { answer: 'Anna' } } : { status: 400, error };
  };

describe('the form of a reply', () => {
  test('is a strict schema where the schema allows it', async () => {
    const server = await serve([{ content: { answer: 'Anna' } }]);
    await engineAt(server.url).perform(answer);
    await engineAt(server.url).perform(stepFor(z.looseObject({ answer: z.string() })));
    expect(server.requests.map(({ body }) => body.response_format)).toMatchObject([
      { type: 'json_schema', json_schema: { name: 'reply', strict: true } },
      { type: 'json_schema', json_schema: { name: 'reply', strict: false } },
    ]);
  });

  test('is asked for in words where the server takes no schema, and not again with one', async () => {
    const server = await serve(
      refusing((body) =>
        JSON.stringify(body.response_format).includes('json_schema')
          ? "'response_format.type' must be 'json_object'"
          : undefined,
      ),
    );
    const { perform } = engineAt(server.url);
    expect(await perform(answer)).toEqual({ answer: 'Anna' });
    expect(await perform(answer)).toEqual({ answer: 'Anna' });
    expect(formats(server)).toEqual(['json_schema', 'json_object', 'json_object']);
    expect(server.requests[1]?.messages[0]?.content).toMatch(
      /^Be brief\.\n\nReply with one JSON object.*"answer"/s,
    );
  });

  test('may be no more than words; JSON in a Markdown fence is JSON', async () => {
    const server = await serve(({ body }) =>
      'response_format' in body
        ? { status: 400, error: 'unknown field' }
        : { content: '```json\n{"answer":"Anna"}\n```\n' },
    );
    expect(await engineAt(server.url).perform(answer)).toEqual({ answer: 'Anna' });
    expect(formats(server)).toEqual(['json_schema', 'json_object', undefined]);
  });

  test('that is not the reason of a refusal is asked for again; the first refusal is told', async () => {
    let count = 0;
    const server = await serve(() => ({ status: 400, error: `no such thing ${++count}` }));
    const { perform } = engineAt(server.url);
    expect(await perform(answer)).toMatchObject({
      message: expect.stringContaining('HTTP 400: no such thing 1'),
    });
    await perform(answer);
    expect(formats(server)).toEqual([
      'json_schema',
      'json_object',
      undefined,
      'json_schema',
      'json_object',
      undefined,
    ]);
  });
});

test('a model that takes no temperature is asked without one, and from then on', async () => {
  const server = await serve(
    refusing((body) =>
      'temperature' in body
        ? "Unsupported value: 'temperature' does not support 0 with this model."
        : undefined,
    ),
  );
  const { perform } = engineAt(server.url);
  expect(await perform(answer)).toEqual({ answer: 'Anna' });
  expect(await perform(answer)).toEqual({ answer: 'Anna' });
  expect(server.requests.map(({ body }) => body.temperature)).toEqual([0, undefined, undefined]);
});

test('a temperature of null is left out', async () => {
  const server = await serve([{ content: { answer: 'Anna' } }]);
  await engineAt(server.url, { options: { temperature: null } }).perform(answer);
  expect(server.requests[0]?.body).not.toHaveProperty('temperature');
});

test('the model is gpt-4o unless another is named, with its list price (RA-23)', async () => {
  const usage = { promptTokens: 1_000_000, completionTokens: 100_000 };
  const server = await serve([{ content: { answer: 'Anna' }, usage }]);
  const engine = await loadEngine('openai', {
    host: server.url,
    prompts: () => '## system\n\n## user\n',
    environment: {},
  });
  const usages: ModelUsage[] = [];
  const work = { signal: new AbortController().signal, countTokens: () => undefined };
  await engine.perform(answer, { ...work, countUsage: (usage) => usages.push(usage) });
  expect(usages).toEqual([{ model: 'gpt-4o', ...usage, costUsd: 3.5 }]);
});

test('a server that leaves its figures out: tokens and cost that nobody knows', async () => {
  const server = await serve([{ content: { answer: 'Anna' }, usage: null }]);
  const { perform, usages } = engineAt(server.url, { model: 'gpt-4o' });
  await perform(answer);
  expect(usages).toEqual([{ model: 'gpt-4o', promptTokens: null, completionTokens: null, costUsd: null }]);
});

test('an account that has nothing left is told at once: waiting does not fill it', async () => {
  const server = await serve([
    { status: 429, error: 'You exceeded your current quota', code: 'insufficient_quota' },
  ]);
  expect(await engineAt(server.url).perform(answer)).toMatchObject({
    message: expect.stringContaining('has no quota left (You exceeded your current quota)'),
  });
  expect(server.requests).toHaveLength(1);
});

test.each(['messages', 'response_format', 'stream'])(
  'the option %s is the engine’s to write',
  async (option) => {
    const { loading } = engineAt('127.0.0.1:8', { options: { [option]: 'x' } });
    await expect(loading).rejects.toThrow(`${option} cannot be set`);
  },
);

test('what the environment has for OpenAI goes to OpenAI only, but for the key', async () => {
  const server = await serve([{ content: { answer: 'Anna' } }]);
  process.env.OPENAI_ORG_ID = 'org-mine';
  process.env.OPENAI_ADMIN_KEY = 'sk-admin';
  try {
    await engineAt(server.url).perform(answer);
  } finally {
    delete process.env.OPENAI_ORG_ID;
    delete process.env.OPENAI_ADMIN_KEY;
  }
  expect(JSON.stringify(server.requests[0]?.headers)).not.toMatch(/org-mine|sk-admin/);
});

test.each([
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/v1'],
  ['127.0.0.1:8080/', 'http://127.0.0.1:8080/v1'],
  ['http://127.0.0.1:8080/v1/', 'http://127.0.0.1:8080/v1'],
  ['https://models.example/openai/deployments/x', 'https://models.example/openai/deployments/x'],
])('the base URL %s is %s', async (host, url) => {
  expect(await identifyModelSource('openai', { host, environment: {} })).toBe(url);
  expect(await identifyModelSource('openai', { environment: { OPENAI_BASE_URL: host } })).toBe(url);
});

describe('before a run', () => {
  test('OpenAI and Anthropic need a key: the message says which variable to set (RA-50)', () => {
    for (const [name, variable] of [
      ['openai', 'OPENAI_API_KEY'],
      ['anthropic', 'ANTHROPIC_API_KEY'],
    ] as const) {
      expect(() => checkServer(name, { environment: {} })).toThrow(`set ${variable}`);
      expect(() => checkServer(name, { environment: { [variable]: 'sk-1' } })).not.toThrow();
      expect(() => checkServer(name, { host: '127.0.0.1:8080', environment: {} })).not.toThrow();
    }
  });

  test('a fallback on OpenAI’s server needs one, too', () => {
    const options = { fallback_base_url: 'https://api.openai.com' };
    const check = (environment: Record<string, string>) =>
      checkServer('openai', { host: '127.0.0.1:8080', options, environment });
    expect(() => check({})).toThrow('https://api.openai.com/v1 needs a key: set OPENAI_API_KEY');
    // The key may go to its maker, but not to a server that only a team file names.
    expect(() => check({ OPENAI_API_KEY: 'sk-1' })).toThrow('only a team file names it');
    expect(() => check({ OPENAI_API_KEY: 'sk-1', GAIA_MESH_KEY_HOSTS: '127.0.0.1:8080' })).not.toThrow();
  });

  test('local engines need none', () => {
    for (const name of ['ollama', 'extractive'])
      expect(() => checkServer(name, { environment: {} })).not.toThrow();
  });

  test('an engine without the key that it needs asks nobody (RA-50)', async () => {
    const engine = await loadEngine('openai', { prompts: () => '## system\n\n## user\n', environment: {} });
    const work = { signal: new AbortController().signal, countTokens: () => undefined };
    await expect(engine.perform(answer, work)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('https://api.openai.com/v1 needs a key: set OPENAI_API_KEY'),
    });
  });
});
