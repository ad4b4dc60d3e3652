import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { JOB_LIMITS, type JobBounds } from '../../contracts/limits.ts';
import { blamingJob, grantedJob, plainJob, reportingJob } from '../../testing/job-program.ts';
import { isLinux } from '../platform.ts';
import { runJob } from './jobs.ts';
import { hasNamespaces } from './without-network.ts';

const { signal } = new AbortController();
// Starting a process takes longer than most of these jobs.
const BOUNDS: JobBounds = { ms: 30_000, megabytes: 200, reuse: 100 };

const run = (action: string, bytes = new Uint8Array(), bounds: Partial<JobBounds> = {}, job = plainJob) =>
  runJob(job, { action, bytes }, { ...BOUNDS, ...bounds }, { signal });

describe('a job', () => {
  test('gets bytes and gives a text', async () => {
    const bytes = Buffer.from('ß'.repeat(500_000));
    expect(await run('echo', bytes)).toEqual({ answer: bytes.toString() });
  });

  test.each([
    ['read', 'ERR_ACCESS_DENIED'],
    ['write', 'ERR_ACCESS_DENIED'],
    ['spawn', 'ERR_ACCESS_DENIED'],
    ['thread', 'ERR_ACCESS_DENIED'],
    ['code', expect.stringContaining('Code generation from strings disallowed')],
  ])('may not %s', async (action, answer) => {
    expect(await run(action)).toEqual({ answer });
  });

  test('has SQLite and threads where it is granted them, and nothing else with them', async () => {
    const asked = ['sqlite', 'thread', 'read', 'write', 'spawn'];
    const outcomes = await Promise.all(
      asked.map((action) => run(action, undefined, { megabytes: 800 }, grantedJob)),
    );
    expect(outcomes).toEqual(
      ['allowed', 'allowed', ...Array(3).fill('ERR_ACCESS_DENIED')].map((answer) => ({ answer })),
    );
    expect(await run('sqlite')).not.toEqual({ answer: 'allowed' });
  });

  test.runIf(hasNamespaces())('reaches no server of this machine', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    expect(await run('connect', Buffer.from(`${port}`))).not.toEqual({ answer: 'connected' });
  });

  test('gets nothing of the environment, keys least of all (RA-50)', async () => {
    expect(await run('environment')).toEqual({ answer: '[]' });
  });

  test('may print: its answer comes another way', async () => {
    expect(await run('print')).toEqual({ answer: 'answered' });
  });

  test('that refuses its input says so, and that throws anything else has a bug', async () => {
    await expect(run('refuse')).rejects.toMatchObject({ code: 'tool', message: 'there is no such page' });
    await expect(run('throw')).rejects.toThrow(/^plain: Error: no such thing\n +at /);
  });

  test('whose library throws over its input is stopped with the reason', async () => {
    expect(await run('throw', undefined, {}, blamingJob)).toEqual({ stopped: 'it failed: no such thing' });
    const { stopped } = { stopped: '', ...(await run('throw-long', undefined, {}, blamingJob)) };
    expect(stopped).toMatch(/^it failed: too long: x+$/);
    expect(stopped.length).toBeLessThan(400);
    expect(await run('throw-elsewhere')).toEqual({ stopped: 'it failed: behind its back' });
  });

  test('that ends without a word is named with its code', async () => {
    expect(await run('quit')).toEqual({ stopped: 'its process ended with code 7' });
  });

  test('that never ends is ended after its time', async () => {
    expect(await run('hang', undefined, { ms: 500 })).toEqual({ stopped: 'it took longer than 0.5 s' });
  });

  test('has its time from one report to the next', async () => {
    const reports: number[] = [];
    const onEvent = (count: number) => reports.push(count) === 9;
    expect(await runJob(reportingJob, undefined, { ...BOUNDS, ms: 1000 }, { signal, onEvent })).toEqual({
      answer: 'done',
    });
    expect(reports).toEqual([0, 1, 2, 3]);
  });

  test('that eats memory is ended', async () => {
    expect(await run('eat', undefined, { megabytes: 100 })).toEqual({
      stopped: 'it took more than 100 MB of memory',
    });
  });

  test.runIf(isLinux)('that takes memory beside its heap is ended, too', async () => {
    const outcome = await run('eat-outside');
    expect(outcome).toEqual({ stopped: 'it took more than 200 MB of memory' });
  });

  test('may write its bound, and not a byte more', async () => {
    const most = JOB_LIMITS.answerBytes - '{"answer":""}'.length;
    const text = (length: number) => run('flood', Buffer.from(`${length}`), { megabytes: 800 });
    expect(await text(most)).toHaveProperty('answer.length', most);
    expect(await text(most + 1)).toEqual({ stopped: `it wrote more than ${JOB_LIMITS.answerBytes} bytes` });
  });

  test('ends with the task, and does not begin after it', async () => {
    const ended = new AbortController();
    const outcome = runJob(plainJob, { action: 'hang', bytes: new Uint8Array() }, BOUNDS, ended);
    ended.abort();
    expect(await outcome).toEqual({ stopped: 'the task has ended' });
  });

  test('of which too many wait is refused', async () => {
    const ended = new AbortController();
    const hang = () => runJob(plainJob, { action: 'hang', bytes: new Uint8Array() }, BOUNDS, ended);
    const all = Array.from({ length: JOB_LIMITS.atOnce + JOB_LIMITS.waiting }, hang);
    await expect(hang()).rejects.toThrow('256 jobs plain are waiting already: ask again later');
    ended.abort();
    for (const outcome of await Promise.all(all)) expect(outcome).toEqual({ stopped: 'the task has ended' });
  });
});

describe('the process of a job', () => {
  test('is a fresh one for each by default, so that none sees what another left', async () => {
    const { signal: never } = new AbortController();
    const keep = (text: string) =>
      runJob(
        plainJob,
        { action: 'keep', bytes: Buffer.from(text) },
        { ms: 30_000, megabytes: 203 },
        { signal: never },
      );
    await keep('secret');
    expect(await keep('')).toEqual({ answer: '' });
  });

  test('is kept for as many as its kind says, while they end well', async () => {
    const reuse = { reuse: 3, megabytes: 201 };
    const ask = async (action: string) => {
      const outcome = await run(action, undefined, reuse).catch(() => ({}));
      return 'answer' in outcome ? outcome.answer : undefined;
    };
    const first = await ask('pid');
    await ask('refuse');
    expect(await ask('pid')).toBe(first);
    const second = await ask('pid');
    expect(second).not.toBe(first);
    await ask('throw-elsewhere');
    expect(await ask('pid')).not.toBe(second);
  });

  test('that was killed while it waited is replaced', async () => {
    const reuse = { reuse: 9, megabytes: 202 };
    const { answer } = { answer: '', ...(await run('pid', undefined, reuse)) };
    process.kill(Number(answer), 'SIGKILL');
    const again = async () => expect(await run('echo', Buffer.from('b'), reuse)).toEqual({ answer: 'b' });
    await vi.waitFor(again, { timeout: 20_000 });
  });
});
