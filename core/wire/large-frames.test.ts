import { createHash } from 'node:crypto';
import type net from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LARGE_FRAME_LIMITS, LINK_LIMITS, MAX_FRAME_BYTES } from '../contracts/limits.ts';
import { bareListener } from '../testing/loopback.ts';
import type { FrameSocket } from '../transports/tcp/frame-socket.ts';
import { encodeFrame } from './frame.ts';
import { largeFrames } from './large-frames.ts';
import { SLAB_BYTES } from './slab.ts';

const MIB = 1024 * 1024;
/** Frames of a MiB that have their turn at once. */
const AT_ONCE = 3;

interface Ends {
  readonly hub: FrameSocket;
  readonly bare: net.Socket;
  /** Digests of the blobs that came. */
  readonly came: string[];
}

const open: { destroy(): void }[] = [];

afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
  vi.useRealTimers();
});

/** Nobody's patience ends unless the test says so: what goes on does so because another has ended. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
}

function connected(count: number, onBlob: () => void = () => undefined): Promise<Ends[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const { hub, bare } = await bareListener();
      open.push(hub, bare);
      bare.on('error', () => undefined);
      const came: string[] = [];
      hub.start(MAX_FRAME_BYTES, (run) => {
        for (const blob of run.blobs()) {
          came.push(digest(blob));
          onBlob();
        }
      });
      return { hub, bare, came };
    }),
  );
}

function digest(blob: Uint8Array): string {
  return createHash('sha1').update(blob).digest('hex');
}

/** No two blobs are alike, and no part of one is like another part. */
function blob(bytes: number, seed: number): Buffer {
  const words = new Uint32Array(Math.ceil(bytes / 4)).map((_, i) => i * 2_654_435_761 + seed);
  return Buffer.from(words.buffer, 0, bytes);
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await turn();
}

/** As many links as have their turn at once, each in the middle of a frame, and what is left of it. */
async function holders(): Promise<(Ends & { rest: Buffer })[]> {
  const links = await connected(AT_ONCE);
  const frame = encodeFrame(blob(MIB, 1));
  for (const { bare } of links) bare.write(frame.subarray(0, MIB / 2));
  await until(() => links.every(({ hub }) => hub.pendingBytes === MIB / 2));
  return links.map((ends) => ({ ...ends, rest: frame.subarray(MIB / 2) }));
}

/** Links whose frame of a MiB has begun and must wait. */
async function waiters(count: number): Promise<Ends[]> {
  const links = await connected(count);
  for (const { bare } of links) bare.write(encodeFrame(blob(MIB, 2)));
  await until(() => links.every(({ hub }) => hub.pendingBytes === SLAB_BYTES));
  return links;
}

describe('large frames', () => {
  it('take no more memory together than their bound, and come whole and in order', async () => {
    stopClock();
    let mostBytes = 0;
    let mostWaiting = 0;
    const links = await connected(12, () => {
      const pending = links.map(({ hub }) => hub.pendingBytes);
      const large = pending.filter((bytes) => bytes > SLAB_BYTES);
      mostBytes = Math.max(
        mostBytes,
        large.reduce((sum, bytes) => sum + bytes, 0),
      );
      mostWaiting = Math.max(mostWaiting, pending.filter((bytes) => bytes === SLAB_BYTES).length);
    });
    const sizes = [MIB, 10, SLAB_BYTES, 2 * MIB, SLAB_BYTES - 4, 300_000];
    const sent = links.map((_, i) => sizes.map((bytes, k) => blob(bytes, 100 * i + k)));
    const streams = sent.map((blobs) => Buffer.concat(blobs.map(encodeFrame)));
    for (const [i, { bare }] of links.entries()) bare.write(streams[i]?.subarray(0, MIB / 2) ?? '');
    await until(() => links.every(({ hub }) => hub.pendingBytes >= SLAB_BYTES));
    for (const [i, { bare }] of links.entries()) bare.write(streams[i]?.subarray(MIB / 2) ?? '');
    await until(() => links.every(({ came }) => came.length === sizes.length));
    expect(links.map(({ came }) => came)).toEqual(sent.map((blobs) => blobs.map(digest)));
    expect(mostBytes).toBeLessThanOrEqual(LARGE_FRAME_LIMITS.readBytes);
    expect(mostWaiting).toBeGreaterThan(0);
    expect(largeFrames.bytes).toBe(0);
  });

  it('pass alone when they are larger than the bound', async () => {
    stopClock();
    let most = 0;
    const links = await connected(3, () => {
      most = Math.max(most, largeFrames.bytes);
    });
    const sent = blob(2 * LARGE_FRAME_LIMITS.readBytes, 3);
    for (const { bare } of links) bare.write(encodeFrame(sent));
    await until(() => links.every(({ came }) => came.length === 1));
    expect(links.map(({ came }) => came)).toEqual(links.map(() => [digest(sent)]));
    expect(most).toBe(encodeFrame(sent).length);
  });

  it('wait for their turn, and not for an agent that stops in the middle of one', async () => {
    stopClock();
    const stopped = await holders();
    const [last] = await waiters(1);
    // The first look finds the half that has come, the second that no more did.
    vi.advanceTimersByTime(LARGE_FRAME_LIMITS.patienceMs);
    await turn();
    expect(last?.hub.pendingBytes).toBe(SLAB_BYTES);
    vi.advanceTimersByTime(LARGE_FRAME_LIMITS.patienceMs);
    await until(() => last?.came.length === 1);
    for (const { bare, rest } of stopped) bare.write(rest);
    await until(() => stopped.every(({ came }) => came.length === 1));
    expect(stopped.map(({ came }) => came)).toEqual(stopped.map(() => [digest(blob(MIB, 1))]));
  });

  it.each(['hub', 'bare'] as const)('go on when a link that had its turn is closed (%s)', async (end) => {
    stopClock();
    const [first, ...others] = await holders();
    const [waiter] = await waiters(1);
    first?.[end].destroy();
    await until(() => waiter?.came.length === 1);
    expect(others.map(({ came }) => came)).toEqual(others.map(() => []));
  });

  it('are not waited for when a link is closed that waits', async () => {
    stopClock();
    const [first] = await holders();
    const [gone, waiter] = await waiters(2);
    gone?.hub.destroy();
    await gone?.hub.closed;
    first?.bare.write(first.rest);
    await until(() => waiter?.came.length === 1);
    expect(gone?.came).toEqual([]);
  });

  it('of a paused link have no turn until it is resumed', async () => {
    stopClock();
    const [first, second] = await holders();
    const [paused, waiter] = await waiters(2);
    paused?.hub.pause();
    first?.bare.write(first.rest);
    await until(() => waiter?.came.length === 1);
    expect(paused?.hub.pendingBytes).toBe(SLAB_BYTES);
    second?.bare.write(second.rest);
    await until(() => second?.came.length === 1);
    paused?.hub.resume();
    await until(() => paused?.came.length === 1);
    expect(paused?.came).toEqual([digest(blob(MIB, 2))]);
  });

  it('that have begun hold a bounded memory, and who stops in the middle of one while others wait for it is cut off', async () => {
    stopClock();
    const count = LARGE_FRAME_LIMITS.begunBytes / MAX_FRAME_BYTES + 1;
    const stalled = await connected(count);
    const prefix = Buffer.alloc(4);
    prefix.writeUInt32BE(MAX_FRAME_BYTES - 4);
    // One after the other: turns are taken in the order in which frames come, and the last one has to wait.
    for (const { bare, hub } of stalled) {
      bare.write(Buffer.concat([prefix, blob(SLAB_BYTES - 4, 4)]));
      await until(() => hub.pendingBytes === SLAB_BYTES);
    }
    // Each gets its turn when the one before it is found not to come on.
    for (let looks = 0; looks < 3 * count; looks++) {
      vi.advanceTimersByTime(LARGE_FRAME_LIMITS.patienceMs);
      await turn();
    }
    expect(largeFrames.begunBytes).toBe(LARGE_FRAME_LIMITS.begunBytes);
    expect(stalled.map(({ hub }) => hub.isClosed)).toEqual(stalled.map(() => false));
    const [first] = stalled;
    const last = stalled.at(-1);
    last?.bare.write(blob(SLAB_BYTES, 5));
    vi.advanceTimersByTime(LINK_LIMITS.stallMs + LARGE_FRAME_LIMITS.patienceMs);
    expect((await first?.hub.closed)?.message).toContain('while others waited for the memory that it holds');
    await until(() => last?.hub.pendingBytes === 2 * SLAB_BYTES);
    expect(largeFrames.begunBytes).toBe(LARGE_FRAME_LIMITS.begunBytes);
  });
});
