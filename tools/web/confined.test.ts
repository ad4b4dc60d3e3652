import { describe, expect, test } from 'vitest';
import { answerConfined, type ConfinedLimits, isConfined, runConfined } from './confined.ts';

const signal = new AbortController().signal;
const limits: ConfinedLimits = { timeoutMs: 30_000, heapMb: 100, signal };
const child = new URL('../fixtures/confined-child.ts', import.meta.url);

const run = (job: string, bytes = new Uint8Array(), changes: Partial<ConfinedLimits> = {}) =>
  runConfined(child, job, bytes, { ...limits, ...changes });

describe('confined work', () => {
  test('gets bytes and gives a text', async () => {
    const bytes = Buffer.from('ß'.repeat(500_000));
    expect(await run('echo', bytes)).toEqual({ output: bytes.toString() });
  });

  test.each([
    ['read', 'ERR_ACCESS_DENIED'],
    ['write', 'ERR_ACCESS_DENIED'],
    ['spawn', 'ERR_ACCESS_DENIED'],
    ['thread', 'ERR_ACCESS_DENIED'],
  ])('may not %s', async (job, code) => {
    expect(await run(job)).toEqual({ output: code });
  });

  test('gets nothing of the environment, keys least of all (RA-50)', async () => {
    expect(await run('environment')).toEqual({ output: '["GAIA_MESH_CONFINED_JOB"]' });
  });

  test('that throws is stopped with what it says', async () => {
    expect(await run('throw')).toEqual({ stopped: 'its reader ended with code 1 (no such thing)' });
    expect(await run('throw-elsewhere')).toEqual({
      stopped: 'its reader ended with code 1 (Error: behind its back)',
    });
  });

  test('that never ends is ended after its time', async () => {
    expect(await run('hang', undefined, { timeoutMs: 500 })).toEqual({
      stopped: 'it took longer than 0.5 s',
    });
  });

  test('that eats memory is ended by its own heap’s limit', async () => {
    const outcome = await run('eat');
    expect(outcome).toHaveProperty(
      'stopped',
      expect.stringMatching(/^its reader ended with SIG\w+ \(FATAL ERROR: .*heap/),
    );
  });

  test('that writes without end is cut off', async () => {
    expect(await run('flood')).toEqual({ stopped: 'it wrote more than 4194304 bytes' });
  });

  test('that does not take its bytes is no trouble', async () => {
    expect(await run('deaf', Buffer.alloc(10_000_000))).toEqual({ output: 'done' });
  });

  test('ends with the task', async () => {
    const ended = new AbortController();
    const outcome = run('hang', undefined, { signal: ended.signal });
    ended.abort();
    expect(await outcome).toEqual({ stopped: 'the task has ended' });
    expect(await run('echo', undefined, { signal: ended.signal })).toEqual({ stopped: 'the task has ended' });
  });
});

test('nothing is confined where no job is given', () => {
  expect(isConfined('echo')).toBe(false);
  expect(answerConfined).toBeTypeOf('function');
});
