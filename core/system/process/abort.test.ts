import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { onAbort, raceAbort } from './abort.ts';

describe('whoever watches a signal', () => {
  test('is called when it is aborted, and at once when it is already', () => {
    const controller = new AbortController();
    const calls: string[] = [];
    onAbort(controller.signal, () => calls.push('before'));
    expect(calls).toEqual([]);
    controller.abort();
    onAbort(controller.signal, () => calls.push('after'));
    expect(calls).toEqual(['before', 'after']);
  });

  test('is not called any more when it has stopped to watch', () => {
    const controller = new AbortController();
    const calls: string[] = [];
    onAbort(controller.signal, () => calls.push('called'))();
    controller.abort();
    expect(calls).toEqual([]);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});

describe('work that a signal may cut short', () => {
  test('gives its value, and leaves no listener', async () => {
    const { signal } = new AbortController();
    await expect(raceAbort(signal, Promise.resolve(7))).resolves.toBe(7);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test.each(['before', 'meanwhile'])('fails with the signal’s reason when that comes %s', async (when) => {
    const controller = new AbortController();
    const { promise, reject } = Promise.withResolvers<never>();
    if (when === 'before') controller.abort(new Error('enough'));
    const work = raceAbort(controller.signal, promise);
    controller.abort(new Error('enough'));
    await expect(work).rejects.toThrow('enough');
    // No caller handles this late rejection, which must not end the process.
    reject(new Error('too late'));
    await promise.catch(() => undefined);
  });

  test('fails with another reason where one is given', async () => {
    const work = raceAbort(AbortSignal.abort(), Promise.resolve(7), () => new Error('the run ended'));
    await expect(work).rejects.toThrow('the run ended');
  });
});
