import net from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { clientOf } from './testing/linked-ends.ts';
import { needNatsServer, realServer } from './testing/real-server.ts';

needNatsServer();

/** Passes bytes on to `port`, and counts them. */
async function countingProxy(port: number) {
  const passed = { written: 0, read: 0 };
  const sockets = new Set<net.Socket>();
  const proxy = net.createServer((client) => {
    const server = net.connect({ host: '127.0.0.1', port });
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    client.on('data', (bytes) => {
      passed.written += bytes.length;
    });
    server.on('data', (bytes) => {
      passed.read += bytes.length;
    });
    client.pipe(server);
    server.pipe(client);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const address = proxy.address();
  return { passed, port: typeof address === 'object' && address !== null ? address.port : 0 };
}

test('what a connection carried is what passed a proxy on its way', async () => {
  const { url } = await realServer();
  const { passed, port } = await countingProxy(Number(new URL(url).port));
  const server = await clientOf(`nats://127.0.0.1:${port}`);

  let heard = 0;
  server.subscribe('gaia.test', ({ bytes }) => {
    heard += bytes.length;
  });
  for (let length = 1; length <= 20_000; length += 999) server.publish('gaia.test', Buffer.alloc(length));
  await server.confirmed();

  expect(heard).toBeGreaterThan(100_000);
  expect(server.carried).toEqual(passed);
});
