import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { RateLimiter } from '@gaia-mesh/core/run/rate-limiter.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startModelServer } from '../fixtures/model-server.ts';
import { processPermits } from './permits.ts';

const HERE = 'http://127.0.0.1:1';
const here = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);

describe('permits of this process', () => {
  test('are not waited for when the run has ended, and the place in the row is free', async () => {
    const end = new AbortController();
    const { signal } = new AbortController();
    const acquire = (until = signal) => processPermits.acquire(HERE, until);
    const releases = await Promise.all([acquire(), acquire(), acquire(), acquire()]);
    const given = acquire(end.signal);
    const next = acquire();
    end.abort();
    await expect(given).rejects.toMatchObject({
      code: 'engine',
      message: expect.stringContaining('the run ended'),
    });
    releases[0]?.();
    for (const release of [await next, ...releases.slice(1)]) release();
    await expect(acquire(AbortSignal.abort())).rejects.toMatchObject({ code: 'engine' });
  });
});

describe('permits of a launcher', () => {
  /** Runs a process with an engine at `url` that asks `count` questions at once, and returns how many were answered. */
  function startAgent(limiter: RateLimiter | undefined, url: string, count: number) {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-permits-'));
    const file = path.join(folder, 'agent.mjs');
    writeFileSync(
      file,
      `import { loadEngine } from ${here('./registry.ts')};
       import { createLauncherPermits } from ${here('./permits.ts')};
       const permits = createLauncherPermits(process);
       const engine = await loadEngine('openai', { host: ${JSON.stringify(url)}, prompts: () => '', environment: {}, permits });
       const work = { signal: new AbortController().signal, countTokens() {} };
       const chat = () => engine.chat({ messages: [{ role: 'user', content: 'Hi' }] }, work);
       const outcomes = await Promise.allSettled(Array.from({ length: ${count} }, chat));
       console.log(JSON.stringify(outcomes.map(({ value, reason }) => value?.content ?? reason.message)));
       if (process.connected) process.disconnect();`,
    );
    const child = fork(file, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    onTestFinished(() => {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });
    limiter?.serve(child);
    const { stdout } = child;
    if (stdout === null) throw new Error('the agent has no standard output');
    return { child, outcome: text(stdout).then((said): unknown => JSON.parse(said)) };
  }

  test('hold for all its agents together (REQ-082)', async () => {
    const limiter = new RateLimiter({ concurrency: 2 });
    const both = Promise.withResolvers<void>();
    const server = await startModelServer(async (_, index) => {
      // Two requests are at the server together, from either agent; a third must not come.
      if (index === 1) both.resolve();
      await both.promise;
      return { content: 'yes' };
    });
    onTestFinished(() => server.close());
    const agents = [startAgent(limiter, server.url, 6), startAgent(limiter, server.url, 6)];
    for (const { outcome } of agents) expect(await outcome).toEqual(Array.from({ length: 6 }, () => 'yes'));
    expect(server.requests).toHaveLength(12);
    expect(server.active().most).toBe(2);
  });

  test('end with the launcher: what waits fails', async () => {
    const limiter = new RateLimiter({ concurrency: 1 });
    const arrived = Promise.withResolvers<void>();
    const server = await startModelServer(() => {
      arrived.resolve();
      return { hang: true };
    });
    onTestFinished(() => server.close());
    const { child, outcome } = startAgent(limiter, server.url, 2);
    await arrived.promise;
    child.disconnect();
    await server.close();
    const gone = expect.stringContaining('the launcher is gone');
    expect(await outcome).toEqual([gone, gone]);
  });
});
