import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { RateLimiter } from './rate-limiter.ts';

const HERE = 'http://127.0.0.1:1';
const THERE = 'http://127.0.0.1:2';

/** A limiter, and the claims that it granted, in order. */
function limiterOf(concurrency?: number) {
  const limiter = new RateLimiter(concurrency === undefined ? {} : { concurrency });
  const granted: string[] = [];
  const holders = new Map<string, object>();
  const holderOf = (name: string) => {
    const holder = holders.get(name) ?? {};
    holders.set(name, holder);
    return holder;
  };
  return {
    limiter,
    granted,
    holderOf,
    acquire: (name: string, id: number, endpoint = HERE) =>
      limiter.acquire(holderOf(name), id, endpoint, () => granted.push(`${name}${id}`)),
    release: (name: string, id: number, pauseMs?: number) => limiter.release(holderOf(name), id, pauseMs),
  };
}

describe('a limiter', () => {
  test('grants four permits at once for an endpoint, the next when one comes back', () => {
    const { granted, acquire, release } = limiterOf();
    for (const id of [1, 2, 3, 4, 5, 6]) acquire('a', id);
    expect(granted).toEqual(['a1', 'a2', 'a3', 'a4']);
    release('a', 3);
    expect(granted).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
  });

  test('counts each endpoint by itself', () => {
    const { granted, acquire } = limiterOf(1);
    acquire('a', 1, HERE);
    acquire('a', 2, THERE);
    acquire('a', 3, THERE);
    expect(granted).toEqual(['a1', 'a2']);
  });

  test('takes agents in turn: one with many requests keeps nobody waiting', () => {
    const { granted, acquire, release } = limiterOf(1);
    for (const id of [1, 2, 3, 4]) acquire('a', id);
    acquire('b', 1);
    acquire('c', 1);
    acquire('b', 2);
    for (const last of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']) {
      expect(granted.at(-1)).toBe(last);
      release(last.slice(0, 1), Number(last.slice(1)));
    }
    expect(granted).toHaveLength(7);
  });

  test('forgets a claim that is given up while it waits', () => {
    const { granted, acquire, release } = limiterOf(1);
    for (const name of ['a', 'b', 'c']) acquire(name, 1);
    release('b', 1);
    release('a', 1);
    expect(granted).toEqual(['a1', 'c1']);
  });

  test('gives on what an agent held that has gone, and asks nothing of it any more', () => {
    const { limiter, granted, acquire, holderOf } = limiterOf(2);
    for (const id of [1, 2, 3]) acquire('a', id);
    acquire('b', 1);
    limiter.leave(holderOf('a'));
    expect(granted).toEqual(['a1', 'a2', 'b1']);
  });

  test('takes a permit back once, and only from who holds it', () => {
    const { granted, acquire, release } = limiterOf(1);
    acquire('a', 1);
    acquire('b', 1);
    acquire('b', 2);
    release('b', 7);
    release('c', 1);
    expect(granted).toEqual(['a1']);
    release('a', 1);
    release('a', 1);
    expect(granted).toEqual(['a1', 'b1']);
  });

  test('refuses an id that is in use, and more than an agent or a team can need (REQ-082)', () => {
    const { acquire, release } = limiterOf(1);
    expect(acquire('a', 1)).toBeUndefined();
    expect(acquire('a', 1)).toContain('already');
    for (let id = 2; id <= 1024; id++) expect(acquire('a', id)).toBeUndefined();
    expect(acquire('a', 1025)).toContain('more than 1024 permits');
    release('a', 1024);
    expect(acquire('a', 1025)).toBeUndefined();
    for (let at = 1; at < 256; at++) expect(acquire('b', at, `${HERE}/${at}`)).toBeUndefined();
    expect(acquire('b', 256, `${HERE}/256`)).toContain('more than 256 endpoints');
    release('b', 1);
    expect(acquire('b', 256, `${HERE}/256`)).toBeUndefined();
  });
});

describe('a pause', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('keeps everybody from the endpoint, and from no other (RA-24)', () => {
    const { granted, acquire, release } = limiterOf();
    acquire('a', 1);
    release('a', 1, 5_000);
    acquire('a', 2);
    acquire('b', 1);
    acquire('b', 2, THERE);
    expect(granted).toEqual(['a1', 'b2']);
    vi.advanceTimersByTime(4_999);
    expect(granted).toEqual(['a1', 'b2']);
    vi.advanceTimersByTime(1);
    expect(granted).toEqual(['a1', 'b2', 'a2', 'b1']);
  });

  test('lasts a minute at most, and a shorter one does not end it', () => {
    const { granted, acquire, release } = limiterOf();
    acquire('a', 1);
    acquire('a', 2);
    release('a', 1, 1e12);
    release('a', 2, 10);
    acquire('b', 1);
    vi.advanceTimersByTime(59_999);
    expect(granted).not.toContain('b1');
    vi.advanceTimersByTime(1);
    expect(granted).toContain('b1');
  });

  test('leaves no timer behind when nobody waits any more', () => {
    const { limiter, acquire, release, holderOf } = limiterOf();
    acquire('a', 1);
    release('a', 1, 1_000);
    acquire('b', 1);
    limiter.leave(holderOf('b'));
    vi.advanceTimersByTime(1_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('an agent’s process', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-permits-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** A process that sends these messages, and tells what it heard on its standard output. */
  function start(limiter: RateLimiter, ...messages: readonly unknown[]) {
    const file = path.join(folder, 'agent.mjs');
    writeFileSync(
      file,
      `process.on('message', (message) => console.log(JSON.stringify(message)));
       process.on('disconnect', () => process.exit(0));
       for (const message of JSON.parse(process.argv[2])) process.send(message);`,
    );
    const child = fork(file, [JSON.stringify(messages)], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    limiter.serve(child);
    let heard = '';
    child.stdout?.on('data', (text) => {
      heard += text;
    });
    return { child, heard: () => heard.split('\n').filter((line) => line !== '') };
  }

  test('that sends what is no message is not heard, and what it may not have is refused', async () => {
    const limiter = new RateLimiter({ concurrency: 1 });
    const { heard } = start(
      limiter,
      { listening: 4711 },
      'acquire',
      null,
      { acquire: { id: -1, endpoint: HERE } },
      { acquire: { id: 1, endpoint: '' } },
      { acquire: { id: 1, endpoint: 'x'.repeat(2049) } },
      { acquire: { id: 1, endpoint: HERE, more: 1 } },
      { release: 5 },
      { release: 'x', pauseMs: -1 },
      { acquire: { id: 7, endpoint: HERE } },
      { acquire: { id: 7, endpoint: HERE } },
    );
    await expect
      .poll(heard)
      .toEqual(['{"granted":7}', '{"refused":7,"why":"a permit 7 is already held or waited for"}']);
  });
});
