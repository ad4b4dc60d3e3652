import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { trackConnections } from '@gaia-mesh/core/transports/tcp/forwarder.ts';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import type { StackSettings } from '../contract/stack.ts';
import { listenOnPlace } from '../listen.ts';
import type { WireMeter } from '../meter/wire-meter.ts';
import { createStreamStack, type MessageStream } from './stream-stack.ts';

/**
 * Packets as text messages of WebSocket (RFC 6455), by the package `ws` at both ends, with its own settings
 * except for the largest message.
 */
export const jsonWebSocket = createStreamStack({
  transport: 'websocket',
  implementation: 'sdk',
  async listen(accept, { tls, advertisedPort }, meter) {
    const server = tls === null ? http.createServer() : https.createServer({ ...tls, minVersion: 'TLSv1.3' });
    const sockets = new WebSocketServer({ server, maxPayload: MAX_FRAME_BYTES });
    sockets.on('connection', (socket) => accept(createMessageStream(socket, meter)));
    const close = trackConnections(server);
    const port = await listenOnPlace(server, { port: 0 });
    const scheme = tls === null ? 'ws' : 'wss';
    return { address: `${scheme}://127.0.0.1:${advertisedPort ?? port}/`, port, close };
  },
  dial: async (address, settings, meter) =>
    createMessageStream(await dialWebSocket(address, settings), meter),
});

async function dialWebSocket(address: string, { tls }: StackSettings): Promise<WebSocket> {
  const options = { maxPayload: MAX_FRAME_BYTES, ca: tls?.cert };
  const webSocket = new WebSocket(address, options);
  try {
    await once(webSocket, 'open');
  } catch (cause) {
    throw new MeshError('agent', `json/websocket: ${address}: ${toErrorMessage(cause)}`, { cause });
  }
  return webSocket;
}

function createMessageStream(webSocket: WebSocket, meter: WireMeter): MessageStream {
  return {
    get isClosed() {
      return webSocket.readyState !== WebSocket.OPEN;
    },
    start({ onMessage, onClose }) {
      let fault: Error | undefined;
      webSocket.on('message', (data) => {
        const message = toBytes(data);
        meter.received(message.length);
        onMessage(message);
      });
      webSocket.on('error', (error) => {
        fault = error;
      });
      webSocket.on('close', () => onClose(fault));
    },
    send(message) {
      meter.sent(message.length);
      webSocket.send(message, { binary: false });
    },
    close: () => webSocket.terminate(),
  };
}

function toBytes(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data;
}
