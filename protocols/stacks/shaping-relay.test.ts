import net, { type Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listenOnPlace } from './listen.ts';
import { ShapingRelay } from './shaping-relay.ts';

async function startEcho(): Promise<number> {
  const server: Server = net.createServer((socket) => socket.pipe(socket));
  onTestFinished(() => void server.close());
  return listenOnPlace(server, { port: 0 });
}

test('limits the rate, passes all bytes in order, and counts round trips', async () => {
  const relay = await ShapingRelay.listen({ rttMs: 20, bitsPerS: 8e6 });
  onTestFinished(() => relay.close());
  relay.forwardTo(await startEcho());
  const sent = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251));
  const socket = net.connect(relay.port, '127.0.0.1');
  const beganMs = performance.now();
  socket.end(sent);
  const came: Buffer[] = [];
  for await (const chunk of socket) came.push(chunk);
  expect(Buffer.concat(came).equals(sent)).toBe(true);
  // The handshake, the way there and back, and the bytes at a megabyte a second, one link after the other in part.
  expect(performance.now() - beganMs).toBeGreaterThan(40 + 100);
  expect(relay.roundTrips).toBeGreaterThanOrEqual(2);
});
