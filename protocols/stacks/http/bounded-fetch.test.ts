import { afterEach, describe, expect, test, vi } from 'vitest';
import { createBoundedFetch } from './bounded-fetch.ts';

const SERVER = 'http://127.0.0.1:1/mcp';

afterEach(() => void vi.unstubAllGlobals());

/** Stands in for the network. */
function answerWith(answer: (init: RequestInit) => Promise<Response> | Response) {
  const fetched = vi.fn(async (_input: unknown, init: RequestInit) => answer(init));
  vi.stubGlobal('fetch', fetched);
  return fetched;
}

describe('an answer', () => {
  test.each([
    [10, true],
    [11, false],
    [1000, false],
  ])('of %i bytes is read where 10 are the bound: %s', async (bytes, isRead) => {
    answerWith(() => new Response('x'.repeat(bytes)));
    const text = (await createBoundedFetch(SERVER, 10)(SERVER)).text();
    if (isRead) expect(await text).toHaveLength(bytes);
    else await expect(text).rejects.toMatchObject({ code: 'limit' });
  });

  test.each([{}, { redirect: 'follow' }, { redirect: 'error' }] as const)(
    'follows no redirect, whatever the caller says: %j',
    async (init) => {
      const fetched = answerWith(() => new Response(''));
      await createBoundedFetch(SERVER, 10)(SERVER, init);
      expect(fetched.mock.calls[0]?.[1]).toMatchObject({ redirect: 'error' });
    },
  );
});

test('requests that wait are bounded, and one that has ended, in whatever way, makes room', async () => {
  const waiting: PromiseWithResolvers<Response>[] = [];
  answerWith(() => {
    const one = Promise.withResolvers<Response>();
    waiting.push(one);
    return one.promise;
  });
  const ask = createBoundedFetch(SERVER, 10);
  const asked = Array.from({ length: 256 }, () => ask(SERVER).catch((error: unknown) => error));
  await expect(ask(SERVER)).rejects.toMatchObject({ code: 'limit' });
  waiting[0]?.resolve(new Response(''));
  waiting[1]?.reject(new TypeError('fetch failed'));
  await Promise.all(asked.slice(0, 2));
  const next = [ask(SERVER), ask(SERVER)];
  await expect(ask(SERVER)).rejects.toMatchObject({ code: 'limit' });
  for (const one of waiting) one.resolve(new Response(''));
  expect(await Promise.all(next)).toHaveLength(2);
});

test('another origin is asked for nothing', async () => {
  const fetched = answerWith(() => new Response(''));
  await expect(createBoundedFetch(SERVER, 10)('http://127.0.0.1:2/mcp')).rejects.toMatchObject({
    code: 'config',
  });
  expect(fetched).not.toHaveBeenCalled();
});
