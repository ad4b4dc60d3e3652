import { describe, expect, test } from 'vitest';
import { type ModelServer, startModelServer } from '../fixtures/model-server.ts';
import type { Pace } from '../http/service.ts';
import { loadEngine } from './registry.ts';
import {
  expectFailure,
  hello,
  KEY,
  MODEL_ENGINES,
  PROMPT,
  serve,
  step,
  underTest,
  weather,
} from './testing/engine-under-test.ts';

describe.each(MODEL_ENGINES)('the %s engine, with', (name) => {
  const { engineAt, performAt, chatAt, chatOf, urlOf } = underTest(name);

  // Retries and fallbacks are the same code for all engines, which has one of them here; the others have the failures of their own.
  if (name === 'openai') {
    describe('a server that is busy', () => {
      test('is asked again up to five times, after delays that grow; the sixth reply counts (RA-24, OV-42)', async () => {
        const busy = { status: 429, error: 'Rate limit reached' };
        const server = await serve([busy, busy, busy, busy, busy, { content: { answer: 'Anna' } }]);
        const { outcome, delays, pauses, notes } = await performAt(server.url);
        expect(outcome).toEqual({ answer: 'Anna' });
        expect(delays).toEqual([500, 1000, 2000, 4000, 8000]);
        // All other agents at this server wait as long.
        expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 0]);
        expect(notes).toHaveLength(5);
        expect(notes[0]).toContain('HTTP 429: Rate limit reached; again in 0.5 s (retry 1 of 5)');
      });

      test('that stays so: the failure says how often it was asked', async () => {
        const server = await serve([{ status: 503, error: 'overloaded' }]);
        expectFailure((await performAt(server.url)).outcome, 'busy 6 times', 'HTTP 503: overloaded');
        expect(server.requests).toHaveLength(6);
      });

      test.each([
        ['seconds', { 'Retry-After': '7' }, 7_000],
        ['milliseconds', { 'Retry-After': '7', 'retry-after-ms': '600' }, 600],
        ['a date that has passed', { 'Retry-After': new Date(0).toUTCString() }, 0],
        ['a date years from now', { 'Retry-After': new Date(9e12).toUTCString() }, 60_000],
        ['nonsense', { 'Retry-After': 'soon' }, 500],
      ])('is left alone as long as it wants, a minute at most: %s (RA-24)', async (_, headers, delayMs) => {
        const server = await serve([{ status: 429, headers }, { content: { answer: 'Anna' } }]);
        const { outcome, delays, pauses } = await performAt(server.url);
        expect(outcome).toEqual({ answer: 'Anna' });
        expect(delays).toEqual([delayMs]);
        expect(pauses).toEqual([delayMs, 0]);
      });

      test('max_retries says how often it is asked again (REQ-075)', async () => {
        const server = await serve([{ status: 429 }]);
        expectFailure((await performAt(server.url, { options: { max_retries: 2 } })).outcome, 'busy 3 times');
        expectFailure(
          (await performAt(server.url, { options: { max_retries: 0 } })).outcome,
          'was busy (HTTP 429',
        );
        expect(server.requests).toHaveLength(4);
      });

      test('a connection that breaks in the middle of a reply is made again (OV-42)', async () => {
        const server = await serve([
          { content: { answer: 'Otto' }, breaks: 'resets' },
          { content: { answer: 'Anna' } },
        ]);
        const { outcome, delays, tokens } = await performAt(server.url);
        expect(outcome).toEqual({ answer: 'Anna' });
        expect(delays).toEqual([500]);
        expect(tokens).toBe(110);
      });
    });

    describe('a fallback', () => {
      const options = { fallback_model: 'small' };

      test('continues with the same conversation and tools when the primary fails; usage says which (RA-23)', async () => {
        const server = await serve(({ model }) =>
          model === 'm' ? { status: 500, error: 'broken' } : { content: 'Hi' },
        );
        const request = {
          messages: [{ role: 'system', content: 'Be brief.' }, hello],
          tools: [weather],
        } as const;
        const { outcome, usages, notes } = await chatAt(server.url, request, { options });
        expect(outcome).toMatchObject({ content: 'Hi' });
        expect(usages.map(({ model }) => model)).toEqual(['small']);
        expect(server.requests.at(-1)).toMatchObject({ model: 'small', ...request });
        expect(notes.at(-1)).toContain('HTTP 500');
        expect(notes.at(-1)).toContain(`small at ${urlOf(server)} continues`);
      });

      test('is asked at once for a minute after the primary has failed, then the primary again (RA-23)', async () => {
        let nowMs = 0;
        const server = await serve(({ model }, index) =>
          model === 'm' && index < 4 ? { status: 503 } : { content: 'Hi' },
        );
        const pace: Pace = { random: () => 0.5, nowMs: () => nowMs, wait: async () => undefined };
        const { engine, workFor } = await engineAt(server.url, {
          options: { ...options, max_retries: 1 },
          pace,
        });
        for (const atMs of [0, 59_999, 60_000]) {
          nowMs = atMs;
          await chatOf(engine)({ messages: [hello] }, workFor(new AbortController().signal));
        }
        expect(server.requests.map(({ model }) => model)).toEqual(['m', 'm', 'small', 'small', 'm']);
      });

      test('may be elsewhere: the primary’s server need not even be there (RA-23)', async () => {
        const gone = await startModelServer([]);
        await gone.close();
        const server = await serve([{ content: { answer: 'Anna' } }]);
        const { outcome, notes } = await performAt(gone.url, {
          options: { ...options, fallback_base_url: server.url },
        });
        expect(outcome).toEqual({ answer: 'Anna' });
        expect(notes).toHaveLength(1);
        expect(server.requests[0]?.model).toBe('small');
      });

      test('takes over from a model that is not there (RA-23)', async () => {
        const server = await serve([{ content: { answer: 'Anna' } }], { models: ['small'] });
        expect((await performAt(server.url, { options })).outcome).toEqual({ answer: 'Anna' });
      });

      test('that fails too: both failures are told (RA-23)', async () => {
        const server = await serve(({ model }) => ({ status: 503, error: `${model} is tired` }));
        expectFailure(
          (await performAt(server.url, { options })).outcome,
          'small is tired',
          'before that',
          'm is tired',
        );
      });

      test('has its own price', async () => {
        const server = await serve(({ model }) =>
          model === 'm' ? { status: 500 } : { content: { answer: 'Anna' } },
        );
        const price = { prompt: 100, completion: 100 };
        const { usages } = await performAt(server.url, {
          options: { ...options, price, fallback_price: { prompt: 0, completion: 1 } },
        });
        expect(usages[0]?.costUsd).toBeCloseTo(10 / 1e6, 12);
      });

      test('does not mend what the user must change', async () => {
        const server = await serve([{ status: 401, error: 'no such key' }]);
        expectFailure((await performAt(server.url, { options })).outcome, 'refused the key');
        expect(server.requests.every(({ model }) => model === 'm')).toBe(true);
      });
    });
  }

  describe('what fails for good says what to do', () => {
    test('a model that is not there (C-06)', async () => {
      const server = await serve([], { models: ['other'] });
      const { outcome, delays } = await performAt(server.url);
      expectFailure(outcome, 'has no model m');
      expect(delays).toEqual([]);
    });

    test('no server', async () => {
      const server = await startModelServer([]);
      await server.close();
      const { outcome, delays } = await performAt(server.url);
      expectFailure(outcome, `at ${urlOf(server)}`);
      expect(delays).toEqual([]);
    });

    test('a prompt that is too long', async () => {
      const server = await serve([{ status: 400, error: 'the input length exceeds the context length' }]);
      expectFailure((await performAt(server.url)).outcome, 'cannot take the whole prompt', 'context');
    });

    test.each([
      ['no JSON', '<html>welcome</html>'],
      ['JSON of another kind', '{"hello":"world"}'],
    ])('a server that answers with %s is another kind of server', async (_, raw) => {
      const server = await serve([{ raw }]);
      const { outcome } = await performAt(server.url);
      expectFailure(outcome, urlOf(server));
      expect(server.requests).toHaveLength(1);
    });

    test('a body without end is not read to its end', async () => {
      const server = await serve([{ raw: `{"message":{"content":"${'x'.repeat(9 * 1024 * 1024)}"}}` }]);
      expectFailure((await performAt(server.url)).outcome, 'more than');
    });

    test('a long error is cut', async () => {
      const server = await serve([{ status: 400, error: 'x'.repeat(200_000) }]);
      const { outcome } = await performAt(server.url);
      expectFailure(outcome, 'HTTP 400');
      expect(outcome).toHaveProperty('message.length', expect.any(Number));
      expect(String(outcome).length).toBeLessThan(1_000);
    });

    test('a redirection is not followed: the key is for this server', async () => {
      const other = await serve([{ content: { answer: 'Anna' } }]);
      const server = await serve([{ status: 307, headers: { Location: `${other.url}/api/chat` } }]);
      expectFailure(
        (await performAt(server.url)).outcome,
        `answered HTTP 307: it redirects to ${other.url}/api/chat, where no key is sent: name the URL of the API`,
      );
      expect(other.requests).toHaveLength(0);
    });
  });
});

describe.each(['openai', 'anthropic'] as const)('a key, for the %s engine', (name) => {
  const variable = name === 'openai' ? 'OPENAI_API_KEY' : 'ANTHROPIC_API_KEY';

  async function perform(server: ModelServer, environment: Record<string, string>): Promise<unknown> {
    const engine = await loadEngine(name, {
      host: server.url,
      prompts: () => PROMPT,
      environment: { ...environment, GAIA_MESH_KEY_HOSTS: server.url },
    });
    const work = { signal: new AbortController().signal, countTokens: () => undefined };
    return engine.perform(step, work).catch((error: unknown) => error);
  }

  test('goes to the server', async () => {
    const server = await serve([{ content: { answer: 'Anna' } }], { key: KEY });
    expect(await perform(server, { [variable]: ` ${KEY}\n` })).toEqual({ answer: 'Anna' });
  });

  test('that is wrong: the variable to check, and never the key, although the server repeats it (RA-50)', async () => {
    const server = await serve([], { key: 'another' });
    const failure = await perform(server, { [variable]: KEY });
    expectFailure(failure, 'refused the key', 'HTTP 401', '[key]', variable);
    expect(everything(failure)).not.toContain(KEY);
  });

  test('that is a word in place of one leaves the words of messages as they are', async () => {
    const server = await serve([{ status: 501, error: 'there is none of it' }]);
    expectFailure(await perform(server, { [variable]: 'none' }), 'there is none of it');
  });

  test('is not needed where the server asks for none', async () => {
    const server = await serve([{ content: { answer: 'Anna' } }]);
    expect(await perform(server, {})).toEqual({ answer: 'Anna' });
  });

  test('that cannot stand in a header is refused without repeating it (RA-50)', async () => {
    const server = await serve([]);
    const failure = await perform(server, { [variable]: 'sk-\u00e4-secret' }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code: 'usage', message: expect.stringContaining(variable) });
    expect(everything(failure)).not.toContain('secret');
  });

  /** Formats the error as any log may show it. */
  function everything(error: unknown): string {
    const parts: string[] = [];
    for (let inner = error; inner instanceof Error; inner = inner.cause) {
      parts.push(inner.stack ?? '', JSON.stringify(inner));
    }
    return parts.join('\n');
  }
});
