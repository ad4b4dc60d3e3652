import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Doorbell } from './doorbell.ts';

const LONG_MS = 60_000;
const { signal } = new AbortController();

describe('a doorbell', () => {
  let bell: Doorbell;
  let url = '';
  beforeAll(async () => {
    bell = await Doorbell.start();
    url = String(Object(bell.config).url);
  });
  afterAll(() => bell.close());
  // A call that no one waited for is heard by the next who waits.
  beforeEach(() => bell.rung(0, signal));

  const ring = async (to = url, init: RequestInit = { method: 'POST', body: 'not read' }) => {
    const response = await fetch(to, init);
    await response.body?.cancel();
    return response.status;
  };
  /** Tells whether somebody has rung, without waiting for a call that is still to come. */
  async function isRung(): Promise<boolean> {
    const ended = new AbortController();
    const rung = bell.rung(LONG_MS, ended.signal).then(
      () => true,
      () => false,
    );
    ended.abort();
    return rung;
  }

  test('has an address on this machine that nobody can guess', async () => {
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}$/);
    const other = await Doorbell.start();
    expect(new URL(String(Object(other.config).url)).pathname).not.toBe(new URL(url).pathname);
    await other.close();
  });

  test('wakes all who wait when it is rung', async () => {
    const waiting = [bell.rung(LONG_MS, signal), bell.rung(LONG_MS, signal)];
    expect(await ring()).toBe(204);
    await Promise.all(waiting);
    expect(await isRung()).toBe(false);
  });

  test('that was rung while nobody waited wakes the next one at once, however often it was', async () => {
    await ring();
    await ring();
    expect(await isRung()).toBe(true);
    expect(await isRung()).toBe(false);
  });

  test.each<[what: string, path: string, method: string]>([
    ['at another path', '/', 'POST'],
    ['at a longer path', 'x', 'POST'],
    ['by another method', '', 'GET'],
  ])('is not rung %s', async (_what, path, method) => {
    const to = path === '/' ? new URL('/', url).href : `${url}${path}`;
    expect(await ring(to, { method })).toBe(404);
    expect(await isRung()).toBe(false);
  });

  test('is waited for no longer than the patience lasts', async () => {
    await bell.rung(1, signal);
  });

  test('is not waited for after the signal, which gives its reason', async () => {
    await expect(bell.rung(LONG_MS, AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
    const ended = new AbortController();
    const waiting = bell.rung(LONG_MS, ended.signal);
    ended.abort(new Error('given up'));
    await expect(waiting).rejects.toThrow('given up');
    // It does not count as one who waits any more.
    await ring();
    expect(await isRung()).toBe(true);
  });
});
