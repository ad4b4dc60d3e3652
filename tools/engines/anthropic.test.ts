import type { ChatMessage, EngineWork, Step } from '@gaia-mesh/core/contracts/engine.ts';
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { EngineOptions } from './engine-options.ts';
import { identifyModelSource, loadEngine } from './registry.ts';
import { serve } from './testing/engine-under-test.ts';

const step: Step = {
  input: {},
  embedded: () => ({}),
  model: {
    prompt: 'ask',
    variables: () => ({}),
    reply: z.object({ answer: z.string() }),
    result: (reply) => z.object({ answer: z.string() }).parse(reply),
  },
};

const work: EngineWork = { signal: new AbortController().signal, countTokens: () => undefined };
const engineAt = (host: string, options: EngineOptions['options'] = {}) =>
  loadEngine('anthropic', {
    host,
    model: 'm',
    options,
    prompts: () => '## system\n\nBe brief.\n\n## user\n\nWho?\n',
    environment: {},
  });

test('a structured reply is the arguments of a tool that the model is made to call', async () => {
  const server = await serve([{ content: { answer: 'Anna' } }]);
  expect(await (await engineAt(server.url)).perform(step, work)).toEqual({ answer: 'Anna' });
  expect(server.requests[0]?.body).toMatchObject({
    max_tokens: 8192,
    system: 'Be brief.',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Who?' }] }],
    tools: [{ name: 'reply', input_schema: { type: 'object', required: ['answer'] } }],
    tool_choice: { type: 'tool', name: 'reply' },
  });
});

test('a model that can be made to nothing, and has no temperature, is asked in words, and from then on', async () => {
  const server = await serve(({ body }) => {
    if ('temperature' in body) return { status: 400, error: '`temperature` is not supported by this model' };
    if (JSON.stringify(body.tool_choice).includes('"tool"'))
      return { status: 400, error: 'tool_choice: not supported' };
    return { content: '{"answer":"Anna"}' };
  });
  const engine = await engineAt(server.url);
  expect(await engine.perform(step, work)).toEqual({ answer: 'Anna' });
  expect(await engine.perform(step, work)).toEqual({ answer: 'Anna' });
  expect(server.requests).toHaveLength(4);
  expect(server.requests[3]?.body.system).toMatch(/^Be brief\.\n\nReply with one JSON object/);
});

test('what follows each other of one side is one turn; who said nothing is passed over', async () => {
  const server = await serve([{ content: 'Hi' }]);
  const messages: ChatMessage[] = [
    { role: 'system', content: 'One.' },
    { role: 'user', content: 'a' },
    { role: 'system', content: 'Two.' },
    { role: 'user', content: 'b' },
    { role: 'assistant', content: ' ' },
    { role: 'user', content: 'c' },
  ];
  await (await engineAt(server.url)).chat?.({ messages }, work);
  expect(server.requests[0]?.body).toMatchObject({
    system: 'One.\n\nTwo.',
    messages: [{ role: 'user', content: ['a', 'b', 'c'].map((text) => ({ type: 'text', text })) }],
  });
});

test('thinking and other blocks are not the reply; cached tokens count', async () => {
  const raw = JSON.stringify({
    content: [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'text', text: 'An' },
      { type: 'text', text: 'na' },
    ],
    stop_reason: 'end_turn',
    usage: {
      input_tokens: 1,
      cache_creation_input_tokens: 10,
      cache_read_input_tokens: 100,
      output_tokens: 1000,
    },
  });
  const server = await serve([{ raw }]);
  let tokens = 0;
  const turn = await (await engineAt(server.url)).chat?.(
    { messages: [{ role: 'user', content: 'Who?' }] },
    {
      ...work,
      countTokens: (count) => {
        tokens += count;
      },
    },
  );
  expect(turn).toEqual({ content: 'Anna', reasoning: 'hm', toolCalls: [], finish: 'stop' });
  expect(tokens).toBe(1111);
});

test('an overloaded server (529) is asked again, and a model that refuses once more (OV-42)', async () => {
  const server = await serve([
    { status: 529, error: 'Overloaded', headers: { 'Retry-After': '0' } },
    { content: '', finish: 'filtered' },
  ]);
  await expect((await engineAt(server.url)).perform(step, work)).rejects.toThrow(/content filter/);
  expect(server.requests).toHaveLength(3);
});

test('the model is Claude Sonnet 4.6 unless another is named, the temperature 0 (RA-22)', async () => {
  const server = await serve([{ content: { answer: 'Anna' } }]);
  const engine = await loadEngine('anthropic', {
    host: server.url,
    prompts: () => '## system\n\n## user\n\nWho?\n',
    environment: {},
  });
  await engine.perform(step, work);
  expect(server.requests[0]).toMatchObject({ model: 'claude-sonnet-4-6', body: { temperature: 0 } });
});

test.each([
  ['https://api.anthropic.com/v1/', 'https://api.anthropic.com'],
  ['127.0.0.1:8', 'http://127.0.0.1:8'],
])('the base URL %s is %s', async (host, url) => {
  expect(await identifyModelSource('anthropic', { host, environment: {} })).toBe(url);
  expect(await identifyModelSource('anthropic', { environment: { ANTHROPIC_BASE_URL: host } })).toBe(url);
});
