import { once } from 'node:events';
import net, { type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openShapingRelay } from './shaping-relay.ts';

/** Starts a server and opens a relay to it. */
async function relayTo(
  serve: (socket: Socket) => void,
  ...[network, clock]: Parameters<typeof openShapingRelay>
) {
  const server = net.createServer({ noDelay: true }, serve);
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const relay = await openShapingRelay(network, clock);
  onTestFinished(async () => {
    server.close();
    await relay.forwarder.close();
  });
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  relay.forwarder.forwardTo(port);
  return { ...relay, port };
}

test('limits the rate, passes all bytes in order, and counts round trips', async () => {
  const { forwarder, countRoundTrips } = await relayTo((socket) => socket.pipe(socket), {
    rttMs: 20,
    bitsPerS: 8e6,
  });
  const sent = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251));
  const socket = net.connect(forwarder.port, '127.0.0.1');
  const beganMs = performance.now();
  socket.end(sent);
  const came: Buffer[] = [];
  for await (const chunk of socket) came.push(chunk);
  expect(Buffer.concat(came).equals(sent)).toBe(true);
  // The handshake, the way there and back, and the bytes at a megabyte a second, one link after the other in part.
  expect(performance.now() - beganMs).toBeGreaterThan(40 + 100);
  expect(countRoundTrips()).toBeGreaterThanOrEqual(2);
});

/** Makes a clock that stands still until the next time comes that a relay waits for. */
function makeClock() {
  let nowMs = 0;
  const waits: { readonly atMs: number; readonly end: () => void }[] = [];
  const ended: number[] = [];
  const clock = {
    now: () => nowMs,
    waitUntil: (atMs: number) => new Promise<void>((end) => void waits.push({ atMs, end })),
  };
  const go = async () => {
    await vi.waitFor(() => expect(waits).toHaveLength(1));
    const [{ atMs, end } = { atMs: 0, end: () => undefined }] = waits.splice(0);
    nowMs = atMs;
    ended.push(atMs);
    end();
  };
  return { clock, waits, ended, go };
}

test('opens no connection for a client that is gone before its handshake', async () => {
  const { clock, waits, go } = makeClock();
  let connections = 0;
  const serve = (socket: Socket) => {
    connections += 1;
    socket.write('x');
  };
  const { forwarder, port } = await relayTo(serve, { rttMs: 40, bitsPerS: 1e6 }, clock);
  const client = net.connect(forwarder.port, '127.0.0.1');
  await vi.waitFor(() => expect(waits).toHaveLength(1));
  client.resetAndDestroy();
  await once(client, 'close');
  // The relay, in the same process, reads of it in the next turn.
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  await go();
  await go();
  // A server accepts in order: what came before this connection is counted.
  const direct = net.connect(port, '127.0.0.1');
  onTestFinished(() => void direct.destroy());
  await once(direct, 'data');
  expect(connections).toBe(1);
});

test('delivers each chunk when the network would have, and not before', async () => {
  const { clock, waits, ended, go } = makeClock();
  const received: number[] = [];
  const serve = (socket: Socket) =>
    socket.on('data', ({ length }) => {
      received.push(length);
      socket.write(Buffer.alloc(length / 2));
    });
  const { forwarder, countRoundTrips } = await relayTo(serve, { rttMs: 40, bitsPerS: 1e6 }, clock);
  const client = net.connect(forwarder.port, '127.0.0.1');
  onTestFinished(() => void client.destroy());
  client.write(Buffer.alloc(1250));
  await go();
  // The relay has read the request now, behind the end of the handshake.
  await vi.waitFor(() => expect(countRoundTrips()).toBe(2));
  await go();
  expect(received).toEqual([]);
  await go();
  await vi.waitFor(() => expect(received).toEqual([1250]));
  let isBack = false;
  const reply = once(client, 'data').then(([chunk]) => {
    isBack = true;
    return chunk.length;
  });
  await vi.waitFor(() => expect(waits).toHaveLength(1));
  expect(isBack).toBe(false);
  await go();
  expect(await reply).toBe(625);
  // The handshake; its last part; the request's 10 ms on the line and its way; the reply's 5 ms and its way.
  expect(ended).toEqual([40, 60, 40 + 10 + 20, 70 + 5 + 20]);
});

test('goes on once a server reads again that had stopped', async () => {
  const [chunks, chunkBytes] = [768, 64 * 1024];
  let server: Socket | undefined;
  let received = 0;
  const serve = (socket: Socket) => {
    server = socket.on('data', ({ length }) => {
      received += length;
    });
    socket.pause();
  };
  const { forwarder } = await relayTo(serve, { rttMs: 0, bitsPerS: 1e12 });
  const client = net.connect(forwarder.port, '127.0.0.1');
  onTestFinished(() => void client.destroy());
  for (let n = 0; n < chunks; n++) client.write(Buffer.alloc(chunkBytes));
  for (let before = -1; before !== client.writableLength; ) {
    before = client.writableLength;
    await sleep(50);
  }
  expect(client.writableLength).toBeGreaterThan(0);
  server?.resume();
  await vi.waitFor(() => expect(received).toBe(chunks * chunkBytes), { timeout: 10_000 });
});
