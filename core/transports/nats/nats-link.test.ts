import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { MAX_FRAME_BYTES } from '../../contracts/limits.ts';
import { encodeFrame, PREFIX_BYTES } from '../../wire/frame.ts';
import type { FrameLink } from '../../wire/frame-link.ts';
import { allocateMessage, WINDOW_BYTES } from './nats-link.ts';
import { clientOf, diallerOf, linkedEnds, listeningEnd, MESH, nodeNamed } from './testing/linked-ends.ts';
import { needNatsServer, realServer } from './testing/real-server.ts';

needNatsServer();

/** What an end hears from now on, and a promise of its having heard so many blobs. */
function hearing(link: FrameLink, count: number, onBlob?: () => void) {
  const blobs: Buffer[] = [];
  const { promise: all, resolve } = Promise.withResolvers<void>();
  link.start(MAX_FRAME_BYTES, (run) => {
    for (const blob of run.blobs()) {
      blobs.push(Buffer.from(blob));
      onBlob?.();
      if (blobs.length === count) resolve();
    }
  });
  return { blobs, all };
}

describe('a connection over NATS', () => {
  test('carries blobs both ways in turns, then frames of every size in order, and both ends count the same bytes', async () => {
    const { hub, agent } = await linkedEnds((await realServer()).url);
    hub.sendBlob(Buffer.from('hello'));
    expect((await agent.nextBlob(5000)).toString()).toBe('hello');
    agent.sendBlob(Buffer.from('welcome'));
    expect((await hub.nextBlob(5000)).toString()).toBe('welcome');

    const sizes = [
      0,
      1,
      511,
      65_536,
      WINDOW_BYTES / 16 - 4,
      WINDOW_BYTES / 16 - 3,
      WINDOW_BYTES,
      3_000_000,
      2,
    ];
    const sent = sizes.map((size) => randomBytes(size));
    const there = hearing(agent, sent.length);
    const here = hearing(hub, sent.length);
    for (const blob of sent) hub.sendBlob(blob);
    for (const blob of sent) agent.sendBlob(blob);
    await Promise.all([there.all, here.all]);

    expect(there.blobs.map((blob) => blob.toString('hex'))).toEqual(sent.map((blob) => blob.toString('hex')));
    expect(here.blobs.map((blob) => blob.toString('hex'))).toEqual(sent.map((blob) => blob.toString('hex')));
    const bytes = sizes.reduce((sum, size) => sum + PREFIX_BYTES + size, 0);
    expect(hub.bytesWritten).toBe(bytes + encodeFrame(Buffer.from('hello')).length);
    expect(agent.bytesRead).toBe(hub.bytesWritten);
    expect(hub.bytesRead).toBe(agent.bytesWritten);
  });

  test('carries a frame that is far longer than the longest message of the server', async () => {
    const { hub, agent } = await linkedEnds((await realServer({ config: 'max_payload: 4096' })).url);
    const frame = randomBytes(300_000);
    const there = hearing(agent, 1);
    hub.sendBlob(frame);
    await there.all;

    expect(there.blobs[0]?.equals(frame)).toBe(true);
    expect(agent.bytesRead).toBe(frame.length + PREFIX_BYTES);
  });

  test('waits for an end that does not read, holds what it does not take, and goes on where it was', async () => {
    const { hub, agent } = await linkedEnds((await realServer()).url);
    const there = hearing(agent, 40);
    agent.pause();
    const frames = Array.from({ length: 40 }, (_, i) => encodeFrame(Buffer.alloc(100_000, i)));
    const takenAtOnce = frames.map((frame) => {
      const isTaken = hub.sendFrames(frame);
      frame.fill(255); // What is not taken has been copied.
      return isTaken;
    });

    expect(takenAtOnce.slice(0, 5)).toEqual([true, true, true, true, true]);
    expect(takenAtOnce.at(-1)).toBe(false);
    expect(hub.queuedBytes).toBe(40 * 100_004 - WINDOW_BYTES);
    // A full turn to the server and back: all that could come has come.
    agent.sendBlob(Buffer.from('still here'));
    await hub.nextBlob(5000);
    expect(there.blobs).toEqual([]);
    expect(agent.bytesRead).toBe(0);

    agent.resume();
    await Promise.all([there.all, hub.drained()]);
    expect(there.blobs.map((blob) => blob.every((byte) => byte === blob[0]))).not.toContain(false);
    expect(there.blobs.map((blob) => blob[0])).toEqual(Array.from({ length: 40 }, (_, i) => i));
    expect(hub.queuedBytes).toBe(0);
  });

  test('may be paused and resumed by whoever takes a frame, at any frame', async () => {
    const { hub, agent } = await linkedEnds((await realServer()).url);
    const there = hearing(agent, 3000, () => {
      agent.pause();
      setImmediate(() => agent.resume());
    });
    for (let i = 0; i < 3000; i++) hub.sendBlob(Buffer.alloc(700, i));
    await there.all;

    expect(there.blobs.map((blob) => blob[0])).toEqual(Array.from({ length: 3000 }, (_, i) => i % 256));
  });

  test('ends without a reason when the other end hangs up, after what that had sent', async () => {
    const { hub, agent } = await linkedEnds((await realServer()).url);
    const there = hearing(agent, 1);
    agent.pause();
    hub.sendBlob(Buffer.from('last words'));
    hub.end();
    await hub.closed;
    agent.resume();

    await expect(agent.closed).resolves.toBeUndefined();
    expect(there.blobs.map(String)).toEqual(['last words']);
  });

  test('lets go of what waits for an end that hung up, and still counts it', async () => {
    const { hub, agent } = await linkedEnds((await realServer()).url);
    agent.pause();
    hub.sendFrames(encodeFrame(Buffer.alloc(2_000_000)));
    const drained = hub.drained();
    agent.destroy();

    await expect(hub.closed).resolves.toBeUndefined();
    await Promise.all([drained, hub.drained()]);
    expect(hub.queuedBytes).toBe(0);
    expect(hub.bytesWritten).toBe(2_000_004);
    expect(hub.sendFrames(Buffer.alloc(10))).toBe(true);
    expect(hub.bytesWritten).toBe(2_000_004);
  });

  test('says so when the other end hangs up in the middle of a frame', async () => {
    const { hub, agent } = await linkedEnds((await realServer()).url);
    hub.sendFrames(encodeFrame(Buffer.alloc(100)).subarray(0, 50));
    hub.end();

    expect(await agent.closed).toMatchObject({
      code: 'frame',
      message: expect.stringContaining('torn frame'),
    });
  });

  test('refuses a frame that is longer than agreed', async () => {
    const { hub, agent } = await linkedEnds((await realServer()).url);
    agent.start(1000, () => 'done');
    hub.sendBlob(Buffer.alloc(1001));

    expect(await agent.closed).toMatchObject({
      code: 'frame',
      message: expect.stringContaining('1001 bytes'),
    });
    await expect(hub.closed).resolves.toBeUndefined();
  });

  test('ends at both ends, with the server’s address, when the server is killed', async () => {
    const server = await realServer();
    const { hub, agent } = await linkedEnds(server.url);
    hub.sendFrames(Buffer.alloc(100));
    await server.stop();

    for (const end of [hub, agent]) {
      expect(await end.closed).toMatchObject({
        code: 'io',
        message: `NATS server ${server.url}: it is gone`,
      });
      await end.drained();
    }
  });
});

describe('whoever can write to a connection’s subjects', () => {
  /** The ears of the next connection, as somebody hears them who may listen to everything. */
  async function overheard(url: string) {
    const stranger = await clientOf(url);
    const ears = new Set<string>();
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const side of ['hub', 'agent']) {
      stranger.subscribe(`${MESH}.0.${side}.*`, ({ reply }) => {
        if (reply !== undefined) ears.add(reply);
        if (ears.size === 2) resolve();
      });
    }
    await stranger.confirmed();
    const ends = await linkedEnds(url);
    await promise;
    const [hubEar = '', agentEar = ''] = [...ears].sort().reverse();
    return { ...ends, stranger, hubEar, agentEar };
  }

  test.each([
    ['bytes at another place', allocateMessage('data', 7, 3), 'io', /byte 7 of the stream came after byte 0/],
    ['an end at another place', allocateMessage('end', 9), 'io', /byte 9/],
    ['bytes taken that were never sent', allocateMessage('taken', 1), 'frame', /took 1 bytes; it was sent 0/],
    ['no message of a link', Buffer.from('hello'), 'frame', /not a link message/],
    ['half a message', Buffer.from([1, 0]), 'frame', /not a link message/],
    ['a second opening', allocateMessage('open', 0), 'frame', /two agents/],
  ])('ends it with %s', async (_what, bytes, code, message) => {
    const { hub, stranger, hubEar } = await overheard((await realServer()).url);
    stranger.publish(hubEar, bytes);

    expect(await hub.closed).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test('cannot make it hold more than its window', async () => {
    const { agent, stranger, agentEar } = await overheard((await realServer()).url);
    agent.pause();
    const piece = WINDOW_BYTES / 4;
    for (let i = 0; i < 5; i++) stranger.publish(agentEar, allocateMessage('data', i * piece, piece));

    expect(await agent.closed).toMatchObject({ message: `more than ${WINDOW_BYTES} bytes came at once` });
    expect(agent.bytesRead).toBe(0);
  });
});

describe('dialling over NATS', () => {
  test('finds nobody at once where nobody listens', async () => {
    const dialler = await diallerOf((await realServer()).url);

    await expect(dialler.dial(nodeNamed('0'))).resolves.toBeUndefined();
  });

  test('finds an agent by its id alone, also where an id has a dot in it', async () => {
    const { url } = await realServer();
    const end = await listeningEnd(url, 'a.b');
    const dialler = await diallerOf(url);

    await expect(dialler.dial(nodeNamed('a'))).resolves.toBeUndefined();
    const hub = await dialler.dial(nodeNamed('a.b'));
    hub?.sendBlob(Buffer.from('you?'));
    expect((await (await end.accepted()).nextBlob(5000)).toString()).toBe('you?');
    hub?.destroy();
  });

  test('is given a free one of several agents with the same id, and waits where none is free', async () => {
    const { url } = await realServer();
    const copies = await Promise.all([listeningEnd(url, '0'), listeningEnd(url, '0')]);
    const dialler = await diallerOf(url);

    await dialler.dial(nodeNamed('0'));
    const [first, second] = copies[0]?.opened() === 1 ? copies : copies.reverse();
    expect([first?.opened(), second?.opened()]).toEqual([1, 0]);
    first?.listener.setBusy(true);
    for (let i = 0; i < 5; i++) await dialler.dial(nodeNamed('0'));
    expect([first?.opened(), second?.opened()]).toEqual([1, 5]);
    second?.listener.setBusy(true);
    const late = dialler.dial(nodeNamed('0'));
    first?.listener.setBusy(false);
    await expect(late).resolves.toBeDefined();
    expect([first?.opened(), second?.opened()]).toEqual([2, 5]);
  });

  test('an agent answers nobody who wants the answer somewhere else', async () => {
    const { url } = await realServer();
    const end = await listeningEnd(url, '0');
    const stranger = await clientOf(url);
    const heard: string[] = [];
    for (const ear of ['elsewhere', `${MESH}.1.hub.${'0'.repeat(32)}`, `${MESH}.0.hub.short`]) {
      stranger.subscribe(ear, () => heard.push(ear));
      stranger.publish(`${MESH}.0.dial`, Buffer.alloc(0), ear);
    }
    await stranger.confirmed();
    // One that it does answer, after those.
    const hub = await (await diallerOf(url)).dial(nodeNamed('0'));
    await end.accepted();
    hub?.destroy();

    await stranger.confirmed();
    expect(heard).toEqual([]);
  });

  test('an agent waits for a server that went away, and is found there again', async () => {
    const first = await realServer();
    const end = await listeningEnd(first.url, '0');
    const port = new URL(first.url).port;
    await first.stop();
    await expect.poll(() => end.faults).toEqual([`NATS server ${first.url}: it is gone`]);
    const second = await realServer({ config: `port: ${port}` });
    expect(second.url).toBe(first.url);
    const dialler = await diallerOf(second.url);

    await expect
      .poll(async () => (await dialler.dial(nodeNamed('0'))) !== undefined, { timeout: 20_000 })
      .toBe(true);
  });

  test('a hub misses an agent whose process ended without a word', async () => {
    const { url } = await realServer();
    const end = await listeningEnd(url, '0');
    const hub = await (await diallerOf(url)).dial(nodeNamed('0'));
    (await end.accepted()).closed.catch(() => undefined);
    // Its connection to the server ends, and no link says so: as if it had been killed.
    await end.listener.close();

    await expect(hub?.closed).resolves.toBeUndefined();
  });
});
