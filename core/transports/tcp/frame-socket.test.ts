import { once } from 'node:events';
import type net from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { HANDSHAKE_LIMITS } from '../../contracts/limits.ts';
import { bareDialler, bareListener, loopback } from '../../testing/loopback.ts';
import { encodeFrame } from '../../wire/frame.ts';
import { FrameSocket } from './frame-socket.ts';

const open: { destroy(): void }[] = [];

afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

async function connected() {
  const ends = await loopback();
  open.push(ends.hub, ends.agent);
  return ends;
}

/** A bare socket against each kind of end: the two read in different ways. */
async function against(end: 'hub' | 'agent'): Promise<{ bare: net.Socket; socket: FrameSocket }> {
  const { bare, socket } =
    end === 'hub'
      ? await bareListener().then(({ hub, bare }) => ({ bare, socket: hub }))
      : await bareDialler().then(({ agent, bare }) => ({ bare, socket: agent }));
  open.push(bare, socket);
  return { bare, socket };
}

/** Collects blobs as text and settles when `count` have come. */
function receiveBlobs(socket: FrameSocket, count: number): Promise<string[]> {
  const { promise, resolve } = Promise.withResolvers<string[]>();
  const blobs: string[] = [];
  socket.start(1024 * 1024, (run) => {
    for (const blob of run.copies()) blobs.push(blob.toString('latin1'));
    if (blobs.length >= count) resolve(blobs);
  });
  return promise;
}

describe('FrameSocket', () => {
  it('carries a stream of frames both ways, and counts its bytes', async () => {
    const { hub, agent } = await connected();
    const texts = Array.from({ length: 500 }, (_, i) => `${i}`.repeat(i));
    const atAgent = receiveBlobs(agent, texts.length);
    const atHub = receiveBlobs(hub, texts.length);
    for (const text of texts) {
      hub.sendBlob(Buffer.from(text));
      agent.sendBlob(Buffer.from(text));
    }
    expect(await atAgent).toEqual(texts);
    expect(await atHub).toEqual(texts);
    const bytes = texts.reduce((sum, text) => sum + 4 + text.length, 0);
    expect([hub.bytesWritten, hub.bytesRead, agent.bytesWritten, agent.bytesRead]).toEqual([
      bytes,
      bytes,
      bytes,
      bytes,
    ]);
  });

  it.each(['hub', 'agent'] as const)('reports a frame that the connection tore (%s)', async (end) => {
    const { bare, socket } = await against(end);
    bare.end(encodeFrame(Buffer.from('half of this')).subarray(0, 9));
    const fault = await socket.closed;
    expect(fault).toMatchObject({ code: 'frame', message: expect.stringContaining('torn frame') });
  });

  it.each(['hub', 'agent'] as const)(
    'has no fault where the other end hung up between frames (%s)',
    async (end) => {
      const { bare, socket } = await against(end);
      const blobs = receiveBlobs(socket, 1);
      bare.end(encodeFrame(Buffer.from('whole')));
      expect(await blobs).toEqual(['whole']);
      expect(await socket.closed).toBeUndefined();
      expect(socket.isClosed).toBe(true);
    },
  );

  it.each(['hub', 'agent'] as const)('closes on a frame that is too long (%s)', async (end) => {
    const { bare, socket } = await against(end);
    bare.on('error', () => undefined);
    bare.write(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
    const fault = await socket.closed;
    expect(fault).toMatchObject({
      code: 'frame',
      message: expect.stringContaining('speaking this protocol'),
    });
    if (!bare.closed) await once(bare, 'close');
  });

  it('allows only small frames before the handshake has ended', async () => {
    const { hub, agent } = await connected();
    hub.sendBlob(Buffer.alloc(HANDSHAKE_LIMITS.frameBytes));
    expect(await agent.nextBlob(1000)).toHaveLength(HANDSHAKE_LIMITS.frameBytes);
    hub.sendBlob(Buffer.alloc(HANDSHAKE_LIMITS.frameBytes + 1));
    await expect(agent.nextBlob(1000)).rejects.toMatchObject({ code: 'frame' });
  });

  it('closes on frames that nobody waits for during the handshake', async () => {
    const { bare, socket } = await against('agent');
    bare.on('error', () => undefined);
    for (let i = 0; i < 20; i++) bare.write(encodeFrame(Buffer.from('{}')));
    expect(await socket.closed).toMatchObject({
      code: 'frame',
      message: expect.stringContaining('handshake'),
    });
  });

  it('closes when a frame came before the handshake had ended', async () => {
    const { bare, socket } = await against('agent');
    bare.on('error', () => undefined);
    bare.write(Buffer.concat([encodeFrame(Buffer.from('ready')), encodeFrame(Buffer.from('too early'))]));
    await socket.nextBlob(1000);
    socket.start(1024, () => 'done');
    expect(await socket.closed).toMatchObject({
      code: 'frame',
      message: expect.stringContaining('before the handshake'),
    });
  });

  it('waits for a blob no longer than it was told', async () => {
    const { hub } = await connected();
    await expect(hub.nextBlob(20)).rejects.toMatchObject({
      code: 'handshake',
      message: expect.stringContaining('20 ms'),
    });
  });

  it.each(['hub', 'agent'] as const)(
    'reads nothing while it is paused, and all of it afterwards (%s)',
    async (end) => {
      const { hub, agent } = await connected();
      const [reader, writer] = end === 'hub' ? [hub, agent] : [agent, hub];
      const received = receiveBlobs(reader, 300);
      reader.pause();
      const blob = Buffer.alloc(64 * 1024, 'x');
      for (let i = 0; i < 300; i++) writer.sendBlob(blob);
      // 19 MB do not fit the system's buffers: some wait in this process.
      expect(writer.queuedBytes).toBeGreaterThan(0);
      let drained = 0;
      const warnings: Error[] = [];
      const onWarning = (warning: Error) => warnings.push(warning);
      process.on('warning', onWarning);
      const waiting = Array.from({ length: 100 }, () => writer.drained().then(() => drained++));
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(drained).toBe(0);
      expect(reader.bytesRead).toBeLessThan(300 * 64 * 1024);
      reader.resume();
      await Promise.all(waiting);
      expect(writer.queuedBytes).toBe(0);
      expect((await received).every((text) => text.length === blob.length)).toBe(true);
      process.off('warning', onWarning);
      expect(warnings).toEqual([]);
    },
  );

  it('says when nobody listens', async () => {
    const { hub, bare } = await bareListener();
    const port = bare.localPort ?? 0;
    hub.destroy();
    bare.destroy();
    await expect(FrameSocket.dial('127.0.0.1', port)).rejects.toMatchObject({ code: 'io' });
  });

  it('closes with a bug in a receiver as the reason', async () => {
    const { hub, agent } = await connected();
    agent.start(1024, () => {
      throw new TypeError('a bug');
    });
    hub.sendBlob(Buffer.from('x'));
    expect(await agent.closed).toMatchObject({ message: 'a bug', cause: expect.any(TypeError) });
  });
});
