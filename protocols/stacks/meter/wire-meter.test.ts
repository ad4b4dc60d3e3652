import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type net from 'node:net';
import { text } from 'node:stream/consumers';
import { fullPacket } from '@gaia-mesh/protocols/contract/samples.ts';
import { Agent, fetch as undiciFetch } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSelfSigned } from '../self-signed.ts';
import { testSettings as settings } from '../testing/settings.ts';
import { meterStack } from './metered.ts';
import { watchWires } from './watch-wires.ts';
import { WireMeter } from './wire-meter.ts';

watchWires();
const identity = await createSelfSigned();

/** Both sides of connections in this process, each with a meter of its own. */
const sides = () => ({ server: new WireMeter(), client: new WireMeter() });

async function listening(server: net.Server, meter: WireMeter): Promise<number> {
  onTestFinished(() => {
    server.close();
  });
  meter.run(() => server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Expects that one side read what the other wrote, and that every byte is on one line. */
function expectSums({ server, client }: ReturnType<typeof sides>): void {
  const [s, c] = [server.bytes, client.bytes];
  for (const { sent, received } of [s, c]) {
    for (const line of [sent, received]) expect(line.tls + line.head + line.body).toBe(line.raw);
    for (const line of [sent, received]) expect(line.head).toBeGreaterThanOrEqual(0);
  }
  expect(c.sent).toEqual(s.received);
  expect(s.sent).toEqual(c.received);
}

const ask = 'né ✅';
const answer = 'x'.repeat(100_000);
const bytes = { ask: Buffer.byteLength(ask), answer: answer.length };

const onRequest: http.RequestListener = (request, response) => {
  text(request).then(
    () => {
      response.writeHead(200, { 'Content-Type': 'text/plain' });
      response.write(answer.slice(0, 10));
      response.end(answer.slice(10));
    },
    () => response.destroy(),
  );
};

describe('bodies over HTTP are told from heads and chunks', () => {
  const clients: Record<string, (url: string) => Promise<string>> = {
    'with fetch': async (url) => (await fetch(url, { method: 'POST', body: ask })).text(),
    'with undici': async (url) => {
      const connect = identity === null ? {} : { ca: identity.cert };
      const dispatcher = new Agent({ connections: 1, connect });
      onTestFinished(() => dispatcher.close());
      return (await undiciFetch(url, { method: 'POST', body: ask, dispatcher })).text();
    },
    'with http.request': async (url) => {
      const agent = url.startsWith('https') ? https : http;
      const options = { method: 'POST', ...(identity === null ? {} : { ca: identity.cert }) };
      const request = agent.request(url, options);
      request.write(ask.slice(0, 2));
      request.end(ask.slice(2));
      const [response]: http.IncomingMessage[] = await once(request, 'response');
      return response === undefined ? '' : text(response);
    },
  };

  test.each(Object.entries(clients))('%s', async (_how, post) => {
    const both = sides();
    const port = await listening(http.createServer(onRequest), both.server);
    const came = await both.client.run(() => post(`http://127.0.0.1:${port}/`));
    expect(came).toBe(answer);
    expectSums(both);
    expect(both.client.bytes).toMatchObject({
      connections: 1,
      sent: { tls: 0, body: bytes.ask, messages: 1 },
      received: { tls: 0, body: bytes.answer, messages: 1 },
    });
  });

  const tlsClients = Object.entries(clients).filter(([how]) => how !== 'with fetch');
  test.skipIf(identity === null).each(tlsClients)('%s, over TLS', async (_how, post) => {
    const both = sides();
    const port = await listening(https.createServer(identity ?? {}, onRequest), both.server);
    const came = await both.client.run(() => post(`https://127.0.0.1:${port}/`));
    expect(came).toBe(answer);
    expectSums(both);
    const { sent, received } = both.client.bytes;
    expect({ sent: sent.body, received: received.body }).toEqual({ sent: bytes.ask, received: bytes.answer });
    expect(sent.tls).toBeGreaterThan(300);
    expect(received.tls).toBeGreaterThan(1000);
  });
});

test('of a stream of events the data are messages', async () => {
  const both = sides();
  const server = http.createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const data of ['one', 'two']) response.write(`event: message\ndata: ${data}\n\n`);
    response.end();
  });
  const port = await listening(server, both.server);
  await both.client.run(async () => (await fetch(`http://127.0.0.1:${port}/`)).text());
  expectSums(both);
  expect(both.server.bytes.sent).toMatchObject({ body: 6, messages: 2 });
});

describe('bodies over HTTP/2 are told from its frames', () => {
  const onStream = (type: string) => (stream: http2.ServerHttp2Stream) => {
    stream.respond({ ':status': 200, 'content-type': type });
    stream.resume().once('end', () => {
      stream.write(grpcMessage(answer));
      stream.end(grpcMessage(''));
    });
  };
  const exchange = async (url: string, type: string) => {
    const session = http2.connect(url, identity === null ? {} : { ca: identity.cert });
    const stream = session.request({ ':method': 'POST', 'content-type': type });
    stream.end(grpcMessage(ask));
    await text(stream);
    // Acknowledgements of settings and windows come behind the frames that they acknowledge.
    await new Promise<void>((resolve, reject) => {
      session.ping((error) => (error === null ? resolve() : reject(error)));
    });
    return session;
  };

  test.each([
    ['as they are', 'application/json', 5, 1],
    ['of gRPC without the prefixes of messages', 'application/grpc+json', 0, 2],
  ])('%s', async (_how, type, prefix, messages) => {
    const both = sides();
    const port = await listening(http2.createServer().on('stream', onStream(type)), both.server);
    const session = await both.client.run(() => exchange(`http://127.0.0.1:${port}`, type));
    expectSums(both);
    expect(both.client.bytes).toMatchObject({
      connections: 1,
      sent: { tls: 0, body: bytes.ask + prefix, messages: 1 },
      received: { tls: 0, body: bytes.answer + 2 * prefix, messages },
    });
    session.close();
  });

  test.skipIf(identity === null)('over TLS', async () => {
    const both = sides();
    const server = http2.createSecureServer(identity ?? {}).on('stream', onStream('application/json'));
    const port = await listening(server, both.server);
    const session = await both.client.run(() => exchange(`https://127.0.0.1:${port}`, 'application/json'));
    expectSums(both);
    expect(both.client.bytes.received).toMatchObject({ body: bytes.answer + 10, messages: 1 });
    expect(both.client.bytes.sent.tls).toBeGreaterThan(300);
    session.close();
  });
});

function grpcMessage(message: string): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(Buffer.byteLength(message), 1);
  return Buffer.concat([prefix, Buffer.from(message)]);
}

test('lines over the pipes of a child are messages', async () => {
  const meter = new WireMeter();
  const child = meter.run(() => spawn('cat', [], { stdio: ['pipe', 'pipe', 'inherit'] }));
  await once(child, 'spawn');
  child.stdin.end('one\ntwo\n');
  expect(await text(child.stdout)).toBe('one\ntwo\n');
  const lines = { raw: 8, tls: 0, head: 2, body: 6, messages: 2 };
  expect(meter.bytes).toMatchObject({ connections: 1, sent: lines, received: lines });
});

test('connections that were closed stay counted', async () => {
  const both = sides();
  const port = await listening(http.createServer(onRequest), both.server);
  const headers = { Connection: 'close' };
  for (let i = 0; i < 3; i++) {
    await both.client.run(async () => (await fetch(`http://127.0.0.1:${port}/`, { headers })).text());
  }
  await expect.poll(() => both.server.bytes.sent).toEqual(both.client.bytes.received);
  expect(both.client.bytes).toMatchObject({ connections: 3, received: { body: 3 * bytes.answer } });
});

test('a stack is not charged what its inbox does', async () => {
  const other = sides();
  const port = await listening(http.createServer(onRequest), other.server);
  const stack = meterStack({
    name: 'json/http1',
    protocol: 'json',
    transport: 'http1',
    implementation: 'bare',
    traits: { oneWay: 'acknowledged', hasTls: false },
    async serve(inbox) {
      await inbox(fullPacket, new AbortController().signal);
      return { address: '', close: async () => undefined };
    },
    connect: () => Promise.reject(new Error('nobody connects')),
  });
  const server = await stack.serve(async () => {
    await (await fetch(`http://127.0.0.1:${port}/`)).text();
    return [];
  }, settings);
  expect(other.server.bytes.connections).toBe(1);
  expect(server.wire()?.connections).toBe(0);
});
