import { once } from 'node:events';
import http2, { type ServerHttp2Stream } from 'node:http2';
import { afterAll, expect, test } from 'vitest';
import { listenHttp2 } from '../../http/http2-server.ts';
import { testSettings } from '../../testing/settings.ts';
import { createFaultError } from '../agent/faults.ts';
import { createBareAgent } from '../bare/http-server.ts';
import { meshCard } from '../card.ts';
import { GrpcConnection } from './connection.ts';
import { serveGrpc } from './server.ts';

/** Error texts, and their form in `grpc-message`, which escapes `%` and bytes outside of 0x20 to 0x7E. */
const TEXTS = [
  ['a: "b" <c> [d] #1, e/f?g=h&i ~{}', 'a: "b" <c> [d] #1, e/f?g=h&i ~{}'],
  ['100 % 41', '100 %25 41'],
  ['für ✅', 'f%C3%BCr %E2%9C%85'],
] as const;

const { agent, close } = createBareAgent(meshCard, async () => undefined, testSettings);
let refusal = '';
const server = await serveGrpc(agent, testSettings, {
  guard() {
    throw createFaultError('invalidRequest', refusal);
  },
});
let status = '';
const foreign = await listenHttp2((stream: ServerHttp2Stream) => {
  stream.respond(
    { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '3', 'grpc-message': status },
    { endStream: true },
  );
}, testSettings);

afterAll(async () => {
  close();
  await Promise.all([server.close(), foreign.close()]);
});

test.each(TEXTS)('a server writes %j as %j', async (text, wire) => {
  refusal = text;
  const session = http2.connect(`http://${server.url}`);
  const stream = session.request({ ':method': 'POST', ':path': '/x' }).end();
  const [headers]: http2.IncomingHttpHeaders[] = await once(stream, 'response');
  session.destroy();
  expect(headers?.['grpc-message']).toBe(wire);
});

test.each<readonly [text: string, wire: string]>([
  ...TEXTS,
  ['100% sure', '100% sure'],
  ['one\ntwo', 'one%0Atwo'],
  ['a✅', '%61%e2%9c%85'],
  ['\ufffd', '%FF'],
])('a client reads %j from %j', async (text, wire) => {
  status = wire;
  const connection = new GrpcConnection(foreign.url, { headers: {}, maxBytes: 1000 });
  const called = connection.call(
    { method: 'GetTask', params: { id: 'x' } },
    AbortSignal.timeout(testSettings.deadlineMs),
  );
  await expect(called).rejects.toThrow(`GetTask was refused (3): ${text}`);
  connection.close();
});
