import net from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { CountingServer } from './counting-server.ts';
import type { Answer } from './http-binding.ts';

const answers = new Map<string, Answer>([
  [
    '/echo',
    async (_request, body) => ({
      body: { heard: body.toString() },
      headers: { 'X-Own': 'é'.length.toString() },
    }),
  ],
]);

let server: CountingServer | undefined;

afterEach(async () => {
  await server?.close();
});

/** Writes bytes to the server, in pieces, and returns all that came back. */
async function exchange(pieces: readonly string[]): Promise<Buffer> {
  server = await CountingServer.start(answers);
  const { hostname, port } = new URL(server.url('/'));
  const socket = net.connect(Number(port), hostname).setNoDelay();
  for (const piece of pieces) await new Promise((resolve) => socket.write(piece, resolve));
  return buffer(socket);
}

describe('a counting server', () => {
  const head = 'POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\n\r\n';

  test.each([
    ['at once', [`${head}né!`]],
    ['in pieces', [head.slice(0, 30), head.slice(30), 'n', 'é!']],
  ])('counts heads and bodies as they were on the wire, %s', async (_how, pieces) => {
    const came = await exchange(pieces);
    const answerHead = came.indexOf('\r\n\r\n') + 4;
    const { requests, connections, wire, http, bodies } = server?.traffic() ?? {};
    expect(came.subarray(answerHead).toString()).toBe('{"heard":"né!"}');
    expect({ requests, connections }).toEqual({ requests: 1, connections: 1 });
    expect(bodies).toEqual({ up: 4, down: came.length - answerHead });
    expect(http).toEqual({ up: head.length + 4, down: came.length });
    expect(wire).toEqual(http);
  });

  test.each([
    ['another path', head.replace('/echo', '/other')],
    ['a body in chunks', head.replace('Content-Length: 4', 'Transfer-Encoding: chunked')],
    ['a body that is larger than any packet', head.replace(': 4', `: ${2 ** 40}`)],
  ])('reads nothing of %s', async (_what, text) => {
    const came = await exchange([text]);
    expect(came.toString()).toMatch(/^HTTP\/1\.1 400 /);
    expect(server?.traffic()).toMatchObject({ requests: 0, bodies: { up: 0, down: 0 } });
  });

  test('listens on the loopback only, and no more when it is closed', async () => {
    server = await CountingServer.start(answers);
    const url = server.url('/echo');
    expect(new URL(url).hostname).toBe('127.0.0.1');
    await server.close();
    await expect(fetch(url)).rejects.toThrow('fetch failed');
    server = undefined;
  });
});
