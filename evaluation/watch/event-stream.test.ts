import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { EventFeed } from './event-feed.ts';

/** A feed behind a server, and the server's end of its first stream. */
async function served() {
  const feed = new EventFeed(() => 0);
  const responses: ServerResponse[] = [];
  const server = createServer((request, response) => {
    responses.push(response);
    feed.stream(response, Number(request.headers['last-event-id'] ?? 0) + 1);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { feed, responses, port: (server.address() as AddressInfo).port };
}

/** Connects a page as a bare socket, which receives no events until the test calls `reads`. */
async function pageOn(port: number) {
  const socket = net.connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  const numbers: number[] = [];
  let rest = '';
  const reads = () => {
    socket.on('data', (bytes: Buffer) => {
      const events = (rest + bytes.toString()).split('"n":');
      rest = `"n":${events.pop()}`;
      for (const event of events) if (/^\d+,/.test(event)) numbers.push(Number.parseInt(event, 10));
    });
    socket.resume();
  };

  const last = () => numbers.at(-1);
  await once(socket, 'connect');
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nhost: page\r\n\r\n');
  return { numbers, last, reads };
}

/** Adds `count` notes of almost 2 kB, which together exceed the buffers of a socket, and ticks after every ten. */
function tell(feed: EventFeed, count: number) {
  for (let i = 0; i < count; i++) {
    feed.add({ event: 'note', text: 'x'.repeat(1800) });
    if (i % 10 === 9) feed.tick();
  }
}

test('a page that does not read blocks nobody, and no more waits for it than one write', async () => {
  const { feed, responses, port } = await served();
  const slow = await pageOn(port);
  const quick = await pageOn(port);
  quick.reads();
  await expect.poll(() => responses.length).toBe(2);

  for (let part = 0; part < 30; part++) {
    tell(feed, 1000);
    await expect.poll(quick.last, { timeout: 60_000 }).toBe(feed.last - 1);
  }

  expect(Math.min(...responses.map(({ writableLength }) => writableLength))).toBe(0);
  expect(Math.max(...responses.map(({ writableLength }) => writableLength))).toBeLessThan(1_000_000);
  expect(quick.numbers).toHaveLength(29_999);

  slow.reads();
  await expect.poll(slow.last, { timeout: 60_000 }).toBe(29_999);
  expect(slow.numbers.length).toBeLessThan(29_000);
  expect(slow.numbers).toEqual(slow.numbers.toSorted((a, b) => a - b));
});

test('a page that comes back goes on where it was', async () => {
  const { feed, port } = await served();
  tell(feed, 20);
  const again = net.connect(port, '127.0.0.1');
  onTestFinished(() => void again.destroy());
  let text = '';
  again.on('data', (bytes: Buffer) => (text += bytes.toString()));
  again.write('GET / HTTP/1.1\r\nhost: page\r\nlast-event-id: 15\r\n\r\n');

  await expect.poll(() => text.match(/"n":\d+/g)).toEqual(['"n":16', '"n":17', '"n":18', '"n":19', '"n":20']);
});
