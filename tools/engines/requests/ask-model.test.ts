import type { ChatMessage } from '@gaia-mesh/core/contracts/engine.ts';
import { describe, expect, test } from 'vitest';
import type { ModelScript, ScriptedReply } from '../../fixtures/model-server.ts';
import {
  expectFailure,
  hello,
  MODEL_ENGINES,
  serve,
  underTest,
  weather,
} from '../testing/engine-under-test.ts';

/** Refuses requests with tools in a real server's words. */
const without =
  (error: string, status = 400): ModelScript =>
  ({ tools, messages }): ScriptedReply => {
    if (tools.length > 0) return { status, error };
    const isAnswered = messages.at(-1)?.content.includes('11 C') === true;
    return {
      content: isAnswered
        ? '11 degrees'
        : 'Let me look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Basel"}}\n</tool_call>',
    };
  };

/** Refusals of long prompts: server, status, characters that it accepts, words, code. */
const OVERFLOWS: readonly [string, number, number, string, string?][] = [
  [
    'Groq',
    413,
    9_000,
    'Request too large for model `llama-3.1-8b-instant` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 3000, Requested 6000, please reduce your message size and try again.',
    'rate_limit_exceeded',
  ],
  ['Gemini', 400, 9_000, 'The input token count (6000) exceeds the maximum number of tokens allowed (3000).'],
  [
    'OpenAI’s rate limit',
    429,
    9_000,
    'Request too large for gpt-4o on tokens per min (TPM): Limit 3000, Requested 6000.',
  ],
  [
    'Gemini for OpenAI’s clients',
    400,
    9_000,
    '[{"error":{"code":400,"message":"The input token count exceeds the maximum number of tokens allowed (3000).","status":"INVALID_ARGUMENT"}}]',
  ],
  ['Anthropic', 400, 9_000, 'prompt is too long: 6000 tokens > 3000 maximum'],
  ['a proxy', 413, 5_000, '<html>Request Entity Too Large</html>'],
  ['xAI', 400, 9_000, "This model's maximum prompt length is 3000 but the request contains 6000 tokens."],
];

describe.each(MODEL_ENGINES)('a request of the %s engine', (name) => {
  const { engineAt, chatAt, chatOf, performAt } = underTest(name);
  const question: ChatMessage[] = [{ role: 'system', content: 'Be brief.' }, hello];

  test.each([
    'registry.ollama.ai/library/gemma:latest does not support tools',
    'tools param requires --jinja flag',
    'This model does not support function calling.',
  ])('goes on with tool calls as text where the server says: %s', async (error) => {
    const server = await serve(without(error));
    const { engine, workFor, notes } = await engineAt(server.url);
    const work = workFor(new AbortController().signal);
    const first = await chatOf(engine)({ messages: question, tools: [weather] }, work);
    expect(first).toMatchObject({
      content: 'Let me look.',
      toolCalls: [{ name: 'get_weather', arguments: { city: 'Basel' } }],
      finish: 'tool_calls',
    });
    const messages: ChatMessage[] = [
      ...question,
      { role: 'assistant', content: first.content, toolCalls: first.toolCalls },
      { role: 'tool', toolCallId: first.toolCalls[0]?.id ?? '', name: 'get_weather', content: '11 C' },
      { role: 'user', content: 'And?' },
    ];
    const second = await chatOf(engine)({ messages, tools: [weather] }, work);
    expect(second).toMatchObject({ content: '11 degrees', toolCalls: [] });
    // The engine asks with tools once, and never again.
    expect(server.requests.map(({ tools }) => tools.length)).toEqual([1, 0, 0]);
    const sent = server.requests[2]?.messages ?? [];
    expect(sent.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(sent[0]?.content).toMatch(/^Be brief\.[\s\S]*<tool_call>[\s\S]*"name":"get_weather"/);
    expect(sent[2]?.content).toContain('<tool_call>');
    expect(sent[3]?.content).toMatch(/11 C[\s\S]*And\?/);
    expect(notes).toEqual([expect.stringContaining('tool calls are written as text')]);
  });

  test('notes the usage of each reply once, whatever was refused before, and that of two alike twice', async () => {
    const refused = without('This model does not support function calling.');
    let isBusy = true;
    const server = await serve((request, index) => {
      const reply = typeof refused === 'function' ? refused(request, index) : {};
      if (request.tools.length > 0 || !isBusy) return reply;
      isBusy = false;
      return { status: 503, error: 'busy' };
    });
    const { engine, workFor, usages, tokens } = await engineAt(server.url);
    const work = workFor(new AbortController().signal);

    const exchanges: unknown[] = [];
    const ask = () =>
      chatOf(engine)(
        { messages: question, tools: [weather] },
        { ...work, onExchange: (exchange) => exchanges.push(exchange) },
      );
    const first = await ask();
    const [usage] = usages;

    expect([server.requests.length, usages.length, exchanges.length]).toEqual([3, 1, 1]);
    expect(usage).toMatchObject({ model: 'm', promptTokens: expect.any(Number) });
    const each = (usage?.promptTokens ?? 0) + (usage?.completionTokens ?? 0);
    expect([each > 0, tokens()]).toEqual([true, each]);

    expect(await ask()).toEqual(first);
    expect(usages).toEqual([usage, usage]);
    expect([tokens(), exchanges.length]).toEqual([2 * each, 2]);
  });

  test('with a picture does not go to a model that sees none by the word of its server, which is asked of it once', async () => {
    const server = await serve(() => ({ content: 'A gull.' }));
    const image = { mediaType: 'image/png', base64: 'iVBORw0KGgo=' } as const;
    const messages: ChatMessage[] = [{ role: 'user', content: 'What is it?', images: [image] }];
    for (const [vision, requests] of [
      [false, 0],
      [true, 2],
      [null, 4],
    ] as const) {
      let asked = 0;
      const askCapabilities = async () => {
        asked++;
        const unknown = { isThere: null, chats: null, tools: null, thinking: null, schemas: null };
        return { model: 'm', url: server.url, ...unknown, vision, contextTokens: null, others: [] };
      };
      const { engine, workFor } = await engineAt(server.url, { askCapabilities });
      for (let turn = 0; turn < 2; turn++) {
        const work = workFor(new AbortController().signal);
        const reply = chatOf(engine)({ messages }, work);
        if (vision === false) await expect(reply).rejects.toThrow(/cannot see pictures, according to http/);
        else expect((await reply).content).toBe('A gull.');
      }
      expect([asked, server.requests.length]).toEqual([1, requests]);
    }
  });

  test('has tool calls as text from the start, or never, where the user says so', async () => {
    const server = await serve(without('m does not support tools'));
    const ask = { messages: question, tools: [weather] };
    const text = await chatAt(server.url, ask, { options: { tool_calls: 'text' } });
    expect(text.outcome).toMatchObject({ toolCalls: [{ name: 'get_weather' }] });
    expect(server.requests).toHaveLength(1);
    const native = await chatAt(server.url, ask, { options: { tool_calls: 'native', max_retries: 0 } });
    expectFailure(native.outcome, 'does not support tools');
  });

  test('with a schema that a grammar refuses is asked for JSON, then in words; that is said once', async () => {
    const server = await serve(({ schema, body }): ScriptedReply => {
      const isJson = JSON.stringify(body).includes('json_object') || body.format === 'json';
      if (schema !== undefined || isJson) return { status: 400, error: 'failed to parse grammar' };
      return { content: 'Here it is: {"answer": "Anna"}' };
    });
    const { outcome, notes } = await performAt(server.url);
    expect(outcome).toEqual({ answer: 'Anna' });
    expect(server.requests.at(-1)?.messages[0]?.content).toContain('must fit this JSON Schema');
    expect(notes).toEqual([expect.stringContaining('with their schema in words')]);
  });

  test('that is too long for the context is shortened and asked again; question and last result survive', async () => {
    const limit = 6_000;
    const server = await serve(({ messages }): ScriptedReply => {
      const characters = JSON.stringify(messages).length;
      if (characters <= limit) return { content: 'FINAL ANSWER: 4' };
      return { status: 400, error: 'the request exceeds the available context size, try increasing it' };
    });
    const results = ['first', 'second', 'third'].flatMap((what, index): ChatMessage[] => [
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: `c${index}`, name: 'get_weather', arguments: { city: what } }],
      },
      { role: 'tool', toolCallId: `c${index}`, name: 'get_weather', content: `${what} ${'x'.repeat(4_000)}` },
    ]);
    const { outcome, notes } = await chatAt(server.url, {
      messages: [...question, ...results],
      tools: [weather],
    });
    expect(outcome).toMatchObject({ content: 'FINAL ANSWER: 4' });
    const sent = server.requests.at(-1)?.messages ?? [];
    expect(sent).toHaveLength(8);
    expect(sent.slice(0, 2)).toEqual(question);
    const kept = sent.filter(({ role }) => role === 'tool').map(({ content }) => content);
    expect(kept[1]).toContain('[Summarised');
    expect(kept[2]).toMatch(/^third xxx/);
    expect(kept[2]?.length).toBeGreaterThan(kept[1]?.length ?? 0);
    expect(notes).toEqual([
      expect.stringContaining('the oldest results first'),
      expect.stringContaining('are summarised'),
    ]);
  });

  // Each engine has its part of the words, which one place reads.
  const own = OVERFLOWS.filter((_, index) => MODEL_ENGINES[index % MODEL_ENGINES.length] === name);
  test.each(own.map((row) => [row[0], row] as const))(
    'that is too long in the words of %s is shortened, with fewer tools, and the question goes on',
    async (_, [_server, status, limit, error, code = '']) => {
      const tools = Array.from({ length: 20 }, (_one, index) => ({
        ...weather,
        name: index === 17 ? 'query_table' : `tool_${index}`,
        description: index === 17 ? 'Answers questions about a spreadsheet' : 'x'.repeat(700),
      }));
      const server = await serve(({ messages, tools: sent }): ScriptedReply => {
        const characters = JSON.stringify([messages, sent]).length;
        if (characters <= limit) return { content: 'FINAL ANSWER: 4' };
        return error.startsWith('[') ? { status, raw: error } : { status, error, code };
      });
      const messages: ChatMessage[] = [
        ...question,
        { role: 'user', content: 'How many rows has the spreadsheet?' },
        {
          role: 'assistant',
          content: '',
          toolCalls: [{ id: 'c', name: 'tool_3', arguments: { city: 'Basel' } }],
        },
        { role: 'tool', toolCallId: 'c', name: 'tool_3', content: `11 C ${'x'.repeat(3_000)}` },
      ];
      const { outcome, notes, delays } = await chatAt(server.url, { messages, tools });
      expect(outcome).toMatchObject({ content: 'FINAL ANSWER: 4' });
      const last = server.requests.at(-1);
      expect(last?.messages[1]?.content).toContain('Hello');
      const offered = last?.tools.map(({ name }) => name) ?? [];
      expect(offered).toEqual(expect.arrayContaining(['tool_3', 'query_table']));
      expect(offered.length).toBeLessThan(20);
      expect(notes[0]).toMatch(/cannot take the whole prompt .*shortened, the oldest results first/);
      expect(delays).toEqual([]);
    },
  );

  test('that is too long however short it is fails this question alone, or goes to a second model', async () => {
    const server = await serve(
      ({ model }): ScriptedReply =>
        model === 'm' ? { status: 413, error: 'Request too large' } : { content: 'FINAL ANSWER: 4' },
    );
    const failed = await chatAt(server.url, { messages: question, tools: [weather] });
    expect(failed.outcome).toMatchObject({
      code: 'reply',
      message: expect.stringContaining('cannot take the whole prompt'),
    });
    const second = await chatAt(
      server.url,
      { messages: question, tools: [weather] },
      { options: { fallback_model: 'large' } },
    );
    expect(second.outcome).toMatchObject({ content: 'FINAL ANSWER: 4' });
  });

  test('that would not fit the context that is known is shortened before it is sent', async () => {
    const server = await serve([{ content: 'ok' }]);
    const messages: ChatMessage[] = [{ role: 'user', content: `Question: why?\n${'x'.repeat(50_000)}` }];
    await chatAt(server.url, { messages }, { options: { context: 2_048 } });
    const sent = server.requests[0]?.messages[0]?.content ?? '';
    expect(sent).toMatch(/^Question: why\?[\s\S]*shortened from 50015 characters/);
    expect(sent.length).toBeLessThan(2_048 * 4);
    if (name === 'ollama') expect(server.requests[0]?.body.options).toMatchObject({ num_ctx: 2_048 });
  });

  test('that outgrows the context has its oldest results summarised by the model, once', async () => {
    const server = await serve(({ messages }): ScriptedReply => {
      const isSummary = messages[0]?.content.startsWith('You shorten what tools replied') === true;
      return { content: isSummary ? 'Basel has 11 C.' : 'FINAL ANSWER: 4' };
    });
    const results = ['Basel', 'Bern', 'Chur', 'Genf'].flatMap((city, index): ChatMessage[] => [
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: `c${index}`, name: 'get_weather', arguments: { city } }],
      },
      { role: 'tool', toolCallId: `c${index}`, name: 'get_weather', content: `${city} ${'x'.repeat(4_000)}` },
    ]);
    const { engine, workFor, notes, usages } = await engineAt(server.url, { options: { context: 3_000 } });
    const work = workFor(new AbortController().signal);
    const ask = { messages: [...question, ...results], tools: [weather] };
    const turn = await chatOf(engine)(ask, work);
    await chatOf(engine)(ask, work);

    expect(turn.content).toBe('FINAL ANSWER: 4');
    expect(server.requests).toHaveLength(3);
    const [summary, first] = server.requests.map(({ messages }) => messages.map(({ content }) => content));
    expect(summary?.[1]).toContain(`Question: ${hello.content}`);
    for (const city of ['Basel', 'Bern', 'Chur']) expect(summary?.[1]).toContain(city);
    expect(summary?.[1]).not.toContain('Genf');
    expect(first?.join('\n')).toContain('Basel has 11 C.');
    expect(first?.join('\n')).toContain('Genf xxx');
    expect(notes).toEqual([expect.stringContaining('summarised')]);
    // The summary is paid for like any other reply.
    expect(usages).toHaveLength(3);
  });

  test('whose reply comes slowly is waited for; one that stops is given up, and what came with it is no answer', async () => {
    const slow = await serve([{ content: 'It is a heron, of course, I think.', pieceDelayMs: 30 }]);
    const { outcome } = await chatAt(slow.url, { messages: question });
    expect(outcome).toMatchObject({ content: 'It is a heron, of course, I think.' });

    const stuck = await serve([{ content: 'It is a heron, of course, I think.', breaks: 'stalls' }]);
    const given = await chatAt(stuck.url, { messages: question }, { idleMs: 200, timeoutMs: 60_000 });
    expectFailure(given.outcome, 'gave no whole reply (2 times)', 'nothing came for 0.2 s after');
  });

  test('says what came from the server’s cache where the server does, and what is not said is not known', async () => {
    const usage = { promptTokens: 2_000, completionTokens: 10, cachedTokens: 1_500 };
    const server = await serve([
      { content: 'ok', usage },
      { content: 'ok', usage: null },
    ]);
    const price = { prompt: 10, cached: 1, completion: 0 };
    const { engine, workFor, usages, tokens } = await engineAt(server.url, { options: { price } });
    const work = workFor(new AbortController().signal);
    await chatOf(engine)({ messages: question }, work);
    await chatOf(engine)({ messages: question }, work);
    if (name !== 'ollama') {
      expect(usages[0]).toMatchObject({ promptTokens: 2_000, cachedTokens: 1_500 });
      expect(usages[0]?.costUsd).toBeCloseTo((500 * 10 + 1_500) / 1e6, 12);
    }
    expect(usages[1]).toMatchObject({ promptTokens: null, completionTokens: null });
    expect(usages[1]).toHaveProperty('costUsd', null);
    expect(tokens()).toBe(2_010);
  });
});

test('a conversation with Anthropic’s tools marks what the server is to keep; a server that does not know the mark is asked without', async () => {
  const { chatAt } = underTest('anthropic');
  const server = await serve(
    ({ body }): ScriptedReply =>
      JSON.stringify(body).includes('cache_control') && server.requests.length > 1
        ? { status: 400, error: 'messages.0.cache_control: Extra inputs are not permitted' }
        : { content: 'ok' },
  );
  const ask = { messages: [{ role: 'system', content: 'Be brief.' } as const, hello], tools: [weather] };
  await chatAt(server.url, ask);
  expect(server.requests[0]?.body).toMatchObject({
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [{ content: [{ cache_control: { type: 'ephemeral' } }] }],
  });
  expect((await chatAt(server.url, ask)).outcome).toMatchObject({ content: 'ok' });
  expect(JSON.stringify(server.requests.at(-1)?.body)).not.toContain('cache_control');
});
