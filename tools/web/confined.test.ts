import { once } from 'node:events';
import { createServer } from 'node:net';
import { canHave } from '@gaia-mesh/core/system/platform.ts';
import { hasNamespaces } from '@gaia-mesh/core/system/process/without-network.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  answerConfined,
  type ConfinedLimits,
  isConfined,
  packTask,
  runConfined,
  unpackTask,
} from './confined.ts';

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

  test('has SQLite and threads where it is granted them, and nothing else with them', async () => {
    const granted = { sqlite: true, workers: true };
    const asked = ['sqlite', 'thread', 'read', 'write', 'spawn'];
    const outcomes = await Promise.all(asked.map((job) => run(job, undefined, granted)));
    expect(outcomes.map((outcome) => ('output' in outcome ? outcome.output : outcome))).toEqual([
      'allowed',
      'allowed',
      ...Array(3).fill('ERR_ACCESS_DENIED'),
    ]);
    expect(await run('sqlite')).not.toEqual({ output: 'allowed' });
  });

  test.runIf(hasNamespaces())('reaches no server of this machine', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    expect(await run('connect', Buffer.from(`${port}`))).not.toEqual({ output: 'connected' });
  });

  test('gets nothing of the environment, keys least of all (RA-50)', async () => {
    expect(await run('environment')).toEqual({ output: '["GAIA_MESH_CONFINED_JOB"]' });
  });

  test('that throws is stopped with what it says', async () => {
    expect(await run('throw')).toEqual({ stopped: 'no such thing' });
    const { stopped } = { stopped: '', ...(await run('throw-long')) };
    expect(stopped).toMatch(/^too long: x+$/);
    expect(stopped.length).toBeLessThan(400);
    expect(await run('throw-elsewhere')).toEqual({
      stopped: 'its reader ended with code 1 (Error: behind its back)',
    });
  });

  test('that ends without a word is named with its code', async () => {
    expect(await run('quit')).toEqual({ stopped: 'its reader ended with code 7' });
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

  test.runIf(canHave('procFiles'))('that takes memory beside its heap is ended from outside', async () => {
    expect(await run('eat-outside', undefined, { rssMb: 200 })).toEqual({
      stopped: 'it took more than 200 MB of memory',
    });
    expect(await run('echo', Buffer.from('a'), { rssMb: 200 })).toEqual({ output: 'a' });
  });

  test('that writes without end is cut off', async () => {
    expect(await run('flood')).toEqual({ stopped: 'it wrote more than 4194304 bytes' });
  });

  test('may write its bound, and not a byte more', async () => {
    const bytes = Buffer.alloc(1000, 'a');
    expect(await run('echo', bytes, { maxOutputBytes: 1000 })).toEqual({ output: bytes.toString() });
    expect(await run('echo', bytes, { maxOutputBytes: 999 })).toEqual({
      stopped: 'it wrote more than 999 bytes',
    });
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

test('a task and its bytes arrive as they were packed', () => {
  const task = { name: 'ß', options: [1, null] };
  const bytes = Buffer.from([0, 1, 255]);
  const packed = packTask(task, bytes);
  // The packed bytes may lie anywhere in their memory.
  const shifted = new Uint8Array([...Buffer.alloc(3), ...packed]).subarray(3);
  for (const each of [packed, shifted])
    expect(unpackTask(each)).toEqual({ task, bytes: new Uint8Array(bytes) });
  expect(unpackTask(packTask({}, new Uint8Array())).bytes).toHaveLength(0);
});

test('nothing is confined where no job is given', () => {
  expect(isConfined('echo')).toBe(false);
  expect(answerConfined).toBeTypeOf('function');
});
