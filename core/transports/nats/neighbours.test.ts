import net from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { resolveNatsAddress } from './nats-address.ts';
import { NatsServer } from './nats-server.ts';

async function listen(onClient: (client: net.Socket) => void, host = '127.0.0.1'): Promise<number> {
  const clients = new Set<net.Socket>();
  const server = net.createServer((client) => {
    clients.add(client);
    client.on('error', () => undefined);
    onClient(client);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => {
    for (const client of clients) client.destroy();
    server.close();
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

test('a NATS server that announces another one leads no client and no credentials to it', async () => {
  let strangers = 0;
  const stranger = await listen(() => {
    strangers += 1;
  });
  const connected: net.Socket[] = [];
  const port = await listen((client) => {
    connected.push(client);
    const info = {
      ...{ server_id: 'S', server_name: 'S', version: '2.10.0', proto: 1, max_payload: 1_048_576 },
      ...{ headers: true, host: '127.0.0.1', port, connect_urls: [`127.0.0.1:${stranger}`] },
    };
    client.write(`INFO ${JSON.stringify(info)}\r\n`);
    client.on('data', (bytes) => {
      if (bytes.includes('PING')) client.write('PONG\r\n');
    });
  });
  const address = resolveNatsAddress(`nats://127.0.0.1:${port}`, {});
  const server = await NatsServer.connect({ address, name: 'test', reconnects: true });
  onTestFinished(() => server.close());

  connected[0]?.destroy();
  await vi.waitFor(() => expect(connected.length).toBeGreaterThan(1), 20_000);
  expect(strangers).toBe(0);
});
