import { createHash, randomBytes } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { MeshError, messageOf } from '../../../../core/contracts/errors.ts';
import type { StackSettings } from '../../contract/stack.ts';
import type { WireMeter } from '../../meter/wire-meter.ts';
import { type MessageStream, type StreamHandler, streamStack } from '../stream/stream-stack.ts';
import { FrameParser, OPCODE, webSocketFrame } from './frames.ts';
import { serveUpgrades } from './upgrade-server.ts';

/** What a server proves with that it knows the protocol (RFC 6455, 1.3). */
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Packets as text messages of WebSocket (RFC 6455) on Node's own HTTP: upgrade, frames, masks, pings, and no extension. */
export const jsonWebSocketBare = streamStack({
  transport: 'websocket',
  implementation: 'bare',
  listen: (accept, settings, meter) =>
    serveUpgrades(settings, (server) => {
      server.on('upgrade', (request, socket, head) => {
        const { upgrade, 'sec-websocket-key': key, 'sec-websocket-version': version } = request.headers;
        if (upgrade?.toLowerCase() !== 'websocket' || key === undefined || version !== '13') {
          socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
          return;
        }
        socket.write(
          `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${acceptOf(key)}\r\n\r\n`,
        );
        const own = socketOf(socket, settings.noDelay);
        accept((handler) => streamOn(own, { isServer: true, head, meter }, handler));
      });
    }),
  async dial(address, settings, handler, meter) {
    const { socket, head } = await upgraded(address, settings);
    return streamOn(socketOf(socket, settings.noDelay), { isServer: false, head, meter }, handler);
  },
});

function upgraded(address: string, { tls }: StackSettings): Promise<{ socket: Duplex; head: Buffer }> {
  const { hostname, port } = new URL(address);
  const key = randomBytes(16).toString('base64');
  const headers = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': key,
  };
  const options = { hostname, port, headers, agent: false as const };
  const request =
    tls === null ? http.request(options) : https.request({ ...options, ca: tls.cert, minVersion: 'TLSv1.3' });
  const { promise, resolve, reject } = Promise.withResolvers<{ socket: Duplex; head: Buffer }>();
  const fail = (why: string, cause?: unknown) =>
    reject(new MeshError('agent', `json/websocket: ${address}: ${why}`, { cause }));
  request.once('upgrade', ({ headers: answered }, socket, head) => {
    if (answered['sec-websocket-accept'] === acceptOf(key)) {
      resolve({ socket, head });
      return;
    }
    socket.destroy();
    fail('expected the accept key of RFC 6455 in the answer');
  });
  request.once('response', (response) => {
    response.resume();
    fail(`expected status 101, came ${response.statusCode}`);
  });
  request.once('error', (error) => fail(messageOf(error), error));
  request.end();
  return promise;
}

function acceptOf(key: string): string {
  return createHash('sha1')
    .update(key + ACCEPT_SUFFIX)
    .digest('base64');
}

/** Node calls it a stream; it is the socket of the connection. */
function socketOf(stream: Duplex, noDelay: boolean): Socket {
  if (!(stream instanceof Socket)) throw new Error('Node upgrades sockets');
  return stream.setNoDelay(noDelay);
}

interface End {
  readonly isServer: boolean;
  /** What came behind the upgrade in the same piece. */
  readonly head: Buffer;
  readonly meter: WireMeter;
}

function streamOn(socket: Socket, { isServer, head, meter }: End, handler: StreamHandler): MessageStream {
  let fault: Error | undefined;
  const write = (opcode: number, payload: Uint8Array) =>
    void socket.write(webSocketFrame(opcode, payload, !isServer));
  const parser = new FrameParser(isServer, {
    onMessage(message) {
      meter.received(message.length);
      handler.onMessage(message);
    },
    onControl(opcode, payload) {
      if (opcode === OPCODE.ping) write(OPCODE.pong, payload);
      if (opcode !== OPCODE.close) return;
      write(OPCODE.close, payload);
      socket.end();
    },
  });
  const read = (chunk: Buffer) => {
    try {
      parser.push(chunk);
    } catch (error) {
      socket.destroy(error instanceof Error ? error : undefined);
    }
  };
  socket.on('data', read);
  socket.on('error', (error) => {
    fault = error;
  });
  socket.on('close', () => handler.onClose(fault));
  if (head.length > 0) read(head);
  return {
    get isClosed() {
      return socket.destroyed || socket.writableEnded;
    },
    send(message) {
      meter.sent(message.length);
      write(OPCODE.text, message);
    },
    close: () => socket.destroy(),
  };
}
