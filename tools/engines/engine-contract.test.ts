import type { ChatMessage } from '@gaia-mesh/core/contracts/engine.ts';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { loadEngine } from './registry.ts';
import {
  expectFailure,
  hello,
  KEY,
  MODEL_ENGINES,
  PROMPT,
  serve,
  underTest,
  weather,
} from './testing/engine-under-test.ts';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe.each(MODEL_ENGINES)('the %s engine', (name) => {
  const { engineAt, performAt, chatAt, chatOf } = underTest(name);

  describe('a step', () => {
    test('is asked with model, prompt, schema and temperature 0, and its reply is the result (RA-22)', async () => {
      const server = await serve([{ content: { answer: 'Anna' } }]);
      expect((await performAt(server.url)).outcome).toEqual({ answer: 'Anna' });
      expect(server.requests).toHaveLength(1);
      expect(server.requests[0]).toMatchObject({
        model: 'm',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Ask: Wer war es?' },
        ],
        schema: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
      });
      const body = z.looseObject({ options: z.unknown() }).partial().parse(server.requests[0]?.body);
      expect(name === 'ollama' ? body.options : body).toMatchObject({ temperature: 0 });
    });

    test.each([
      ['Anna', 'not JSON'],
      ['{"antwort":"Anna"}', 'answer'],
    ])(
      'that is replied to with %s is sent back once with the fault; both replies count',
      async (bad, fault) => {
        const server = await serve([{ content: bad }, { content: { answer: 'Anna' } }]);
        const { outcome, tokens, usages, delays } = await performAt(server.url);
        expect(outcome).toEqual({ answer: 'Anna' });
        expect(tokens).toBe(220);
        expect(usages).toHaveLength(2);
        const [, , said, told] = server.requests[1]?.messages ?? [];
        expect(said).toEqual({ role: 'assistant', content: bad });
        expect(told).toMatchObject({ role: 'user', content: expect.stringContaining(fault) });
        expect(delays).toEqual([]);
      },
    );

    test('that no reply fits fails after two, whatever max_retries is (C-07)', async () => {
      const server = await serve([{ content: 'Anna' }]);
      const { outcome } = await performAt(server.url, { options: { max_retries: 5 } });
      expectFailure(outcome, 'no usable reply to ask in 2 attempts', 'take another model');
      expect(server.requests).toHaveLength(2);
    });

    test('retries of transport and of replies are counted apart (C-07)', async () => {
      const busy = { status: 429, error: 'Rate limit reached' };
      const server = await serve([busy, { content: 'Anna' }, busy, { content: { answer: 'Anna' } }]);
      const { outcome, delays } = await performAt(server.url, { options: { max_retries: 1 } });
      expect(outcome).toEqual({ answer: 'Anna' });
      expect(delays).toHaveLength(2);
    });

    test('whose reply was cut off says what to raise, and is not asked again', async () => {
      const server = await serve([{ content: '{"answer":"An', finish: 'length' }]);
      expectFailure((await performAt(server.url)).outcome, 'cut off', 'raise options.');
      expect(server.requests).toHaveLength(1);
    });
  });

  describe('a conversation', () => {
    test('goes on with the results of the tools that the model called', async () => {
      const server = await serve([
        {
          content: 'Let me look.',
          toolCalls: [
            { id: 'call_a', name: 'get_weather', arguments: { city: 'Tōkyō' } },
            { id: 'call_b', name: 'get_weather', arguments: { city: 'Basel' } },
          ],
        },
        { content: '11 degrees' },
      ]);
      const { engine, workFor, tokens } = await engineAt(server.url);
      const work = workFor(new AbortController().signal);
      const question: ChatMessage[] = [{ role: 'system', content: 'Be brief.' }, hello];

      const first = await chatOf(engine)({ messages: question, tools: [weather] }, work);

      expect(first).toEqual({
        content: 'Let me look.',
        toolCalls: [
          { id: 'call_a', name: 'get_weather', arguments: { city: 'Tōkyō' } },
          { id: 'call_b', name: 'get_weather', arguments: { city: 'Basel' } },
        ],
        finish: 'tool_calls',
      });
      expect(server.requests[0]?.tools).toEqual([weather]);
      const messages: ChatMessage[] = [
        ...question,
        { role: 'assistant', content: first.content, toolCalls: first.toolCalls },
        { role: 'tool', toolCallId: 'call_a', name: 'get_weather', content: '11 C' },
        { role: 'tool', toolCallId: 'call_b', name: 'get_weather', content: 'error: no such city' },
        { role: 'user', content: 'And?' },
      ];

      const second = await chatOf(engine)({ messages, tools: [weather] }, work);

      expect(second).toEqual({ content: '11 degrees', toolCalls: [], finish: 'stop' });
      expect(server.requests[1]?.messages).toEqual(messages);
      expect(tokens()).toBe(220);
    });

    test('each call has an id of its own, new in the conversation, where the server gives none or one twice', async () => {
      const call = { name: 'get_weather', arguments: { city: 'Basel' } };
      const server = await serve([{ toolCalls: [{ ...call, id: 'same' }, { ...call, id: 'same' }, call] }]);
      const { engine, workFor } = await engineAt(server.url);
      const work = workFor(new AbortController().signal);
      let messages: ChatMessage[] = [hello];
      const ids: string[] = [];
      for (let turn = 0; turn < 2; turn++) {
        const { content, toolCalls } = await chatOf(engine)({ messages, tools: [weather] }, work);
        ids.push(...toolCalls.slice(1).map(({ id }) => id));
        const results = toolCalls.map(
          ({ id, name }): ChatMessage => ({ role: 'tool', toolCallId: id, name, content: '11 C' }),
        );
        messages = [...messages, { role: 'assistant', content, toolCalls }, ...results];
      }
      expect(ids).toHaveLength(4);
      expect(new Set(ids).size).toBe(4);
    });

    test('arguments that are no object reach whoever runs the tool as the text that they are', async () => {
      const server = await serve([
        { toolCalls: [{ id: 'a', name: 'get_weather', arguments: '{"city": "Bas' }] },
        { content: 'ok' },
      ]);
      const { engine, workFor } = await engineAt(server.url);
      const work = workFor(new AbortController().signal);
      const { toolCalls } = await chatOf(engine)({ messages: [hello], tools: [weather] }, work);
      expect(toolCalls).toEqual([{ id: 'a', name: 'get_weather', arguments: '{"city": "Bas' }]);

      const messages: ChatMessage[] = [
        hello,
        { role: 'assistant', content: '', toolCalls },
        { role: 'tool', toolCallId: 'a', name: 'get_weather', content: 'error: not JSON' },
      ];
      await chatOf(engine)({ messages, tools: [weather] }, work);
      expect(server.requests[1]?.messages[1]).toMatchObject({
        toolCalls: [{ arguments: { not_an_object: '{"city": "Bas' } }],
      });
    });

    test('images reach the model with the text', async () => {
      const server = await serve([{ content: 'a pixel' }]);
      const images = [{ mediaType: 'image/png', base64: PIXEL } as const];
      const { outcome } = await chatAt(server.url, {
        messages: [{ role: 'user', content: 'What is it?', images }],
      });
      expect(outcome).toMatchObject({ content: 'a pixel' });
      expect(server.requests[0]?.messages).toEqual([{ role: 'user', content: 'What is it?', images }]);
    });

    test('half a character becomes one that a packet can hold', async () => {
      const toolCalls = [{ id: 'a', name: 't', arguments: { x: 'b\ud83d' } }];
      const server = await serve([{ content: 'a\ud83d', toolCalls }]);
      const { outcome } = await chatAt(server.url, { messages: [hello] });
      expect(outcome).toMatchObject({ content: 'a\ufffd', toolCalls: [{ arguments: { x: 'b\ufffd' } }] });
    });

    test('more calls than anybody needs are no reply', async () => {
      const toolCalls = Array.from({ length: 65 }, (_, at) => ({ id: `c${at}`, name: 't', arguments: {} }));
      const server = await serve([{ toolCalls: toolCalls.slice(1) }, { toolCalls }]);
      const { outcome } = await chatAt(server.url, { messages: [hello] });
      expect(outcome).toMatchObject({ finish: 'tool_calls' });
      expectFailure((await chatAt(server.url, { messages: [hello] })).outcome, 'calls 65 tools');
    });
  });

  describe('what a reply took', () => {
    const usage = { promptTokens: 2_000, completionTokens: 1_000 };

    test('is the server’s own figures, and dollars by the given price (MP-51, MP-75)', async () => {
      const server = await serve([{ content: { answer: 'Anna' }, usage }]);
      const { tokens, usages } = await performAt(server.url, {
        options: { price: { prompt: 5, completion: 20 } },
      });
      expect(tokens).toBe(3_000);
      expect(usages).toEqual([{ model: 'm', ...usage, costUsd: 0.03 }]);
    });

    test('costs nothing on Ollama, and an unknown sum where the price is not known', async () => {
      const server = await serve([{ content: { answer: 'Anna' }, usage }]);
      const { usages } = await performAt(server.url);
      expect(usages).toEqual([{ model: 'm', ...usage, costUsd: name === 'ollama' ? 0 : null }]);
    });
  });

  describe('time', () => {
    test('silence ends with the timeout', async () => {
      const server = await serve([{ hang: true }]);
      expectFailure(
        // The delay lets the request reach the server on a busy machine.
        (await performAt(server.url, { timeoutMs: 1000 })).outcome,
        'did not finish within 1 s',
        '--question-time',
      );
      expect(server.requests).toHaveLength(1);
    });

    test('an abort ends the request, on the server too', async () => {
      const end = new AbortController();
      const server = await serve(() => {
        setImmediate(() => end.abort());
        return { hang: true };
      });
      expectFailure((await performAt(server.url, {}, end.signal)).outcome, 'the run ended');
      await expect.poll(() => server.abandoned()).toBe(1);
    });

    test('a run that has ended asks nothing, and no fallback either', async () => {
      const server = await serve([{ content: { answer: 'Anna' } }]);
      const { outcome } = await performAt(
        server.url,
        { options: { fallback_model: 'small' } },
        AbortSignal.abort(),
      );
      expectFailure(outcome, 'the run ended');
      expect(server.requests).toHaveLength(0);
    });

    test('at most four requests of a process are with one server at once (REQ-082)', async () => {
      const arrived = Promise.withResolvers<void>();
      const server = await serve(async (_, index) => {
        if (index === 3) arrived.resolve();
        await arrived.promise;
        return { content: 'Hi' };
      });
      const { workFor } = await engineAt(server.url);
      const local = await loadEngine(name, {
        host: server.url,
        prompts: () => PROMPT,
        environment: { OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: KEY, GAIA_MESH_KEY_HOSTS: server.url },
      });
      const work = workFor(new AbortController().signal);
      await Promise.all(Array.from({ length: 12 }, () => chatOf(local)({ messages: [hello] }, work)));
      expect(server.active().most).toBe(4);
    });
  });

  test('nothing is printed, whatever happens', async () => {
    const printed = [
      vi.spyOn(process.stdout, 'write').mockReturnValue(true),
      vi.spyOn(process.stderr, 'write').mockReturnValue(true),
      ...(['log', 'warn', 'error', 'info', 'debug'] as const).map((method) =>
        vi.spyOn(console, method).mockReturnValue(undefined),
      ),
    ];
    try {
      const replies = [
        { raw: '<html>\nwelcome\n' },
        { status: 400, raw: '{' },
        { status: 500 },
        { content: { answer: 'A' }, breaks: 'resets' as const },
      ];
      for (const reply of replies) {
        const server = await serve([reply]);
        // A client library prints a warning about this model.
        await performAt(server.url, { model: 'claude-sonnet-4-5', options: { max_retries: 0 } });
      }
      for (const spy of printed) expect(spy).not.toHaveBeenCalled();
    } finally {
      for (const spy of printed) spy.mockRestore();
    }
  });

  test.each([
    ['max_retries', -1],
    ['max_retries', 21],
    ['temperature', 'hot'],
    ['price', { prompt: 1 }],
    ['fallback_model', ''],
  ])('an option %s of %j is refused before anything is sent', async (option, value) => {
    const failure = await engineAt('127.0.0.1:8', { options: { [option]: value } }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code: 'usage', message: expect.stringContaining(option) });
  });
});
