import net, { type Socket } from 'node:net';
import tls from 'node:tls';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { trackConnections } from '@gaia-mesh/core/transports/tcp/forwarder.ts';
import { encodeFrame, FrameReader } from '@gaia-mesh/core/wire/frame.ts';
import type { StackSettings } from '../contract/stack.ts';
import { awaitConnection, type Endpoint, listenOnPlace } from '../listen.ts';
import type { WireMeter } from '../meter/wire-meter.ts';
import type { Accept, MessageStream, StreamHandler } from './stream-stack.ts';

/** A kind of endpoint: how it is read from an address and written into one. */
export interface EndpointKind {
  /** Returns a free endpoint to listen on. */
  free(): Endpoint;
  formatAddress(endpoint: Endpoint): string;
  /** @throws MeshError `usage` */
  parseAddress(address: string): Endpoint;
}

/** Creates a transport of the mesh's frames, each message behind its length in four bytes, on a socket of any kind. */
export function createFramedTransport(name: string, kind: EndpointKind) {
  return {
    async listen(accept: Accept, settings: StackSettings, meter: WireMeter) {
      const server = createServer(settings, (socket) => {
        accept((handler) => frameSocket(socket, handler, meter));
      });
      const close = trackConnections(server);
      const endpoint = kind.free();
      const port = await listenOnPlace(server, endpoint);
      if ('path' in endpoint) return { address: kind.formatAddress(endpoint), close };
      return { address: kind.formatAddress({ port: settings.advertisedPort ?? port }), port, close };
    },
    async dial(address: string, settings: StackSettings, handler: StreamHandler, meter: WireMeter) {
      const socket = await dialSocket(kind.parseAddress(address), settings, `${name}: ${address}`);
      return frameSocket(socket, handler, meter);
    },
  };
}

function createServer(settings: StackSettings, accept: (socket: Socket) => void): net.Server {
  if (settings.tls === null) return net.createServer({ noDelay: true }, accept);
  return tls.createServer({ ...settings.tls, noDelay: true, minVersion: 'TLSv1.3' }, accept);
}

async function dialSocket(
  endpoint: Endpoint,
  { tls: identity }: StackSettings,
  what: string,
): Promise<Socket> {
  const where = 'port' in endpoint ? { host: '127.0.0.1', ...endpoint } : endpoint;
  if (identity === null) return awaitConnection(net.connect({ ...where, noDelay: true }), 'connect', what);
  const socket = tls.connect({ ...where, ca: identity.cert, minVersion: 'TLSv1.3' });
  return awaitConnection(socket.setNoDelay(true), 'secureConnect', what);
}

function frameSocket(socket: Socket, handler: StreamHandler, meter: WireMeter): MessageStream {
  const reader = new FrameReader(MAX_FRAME_BYTES, (run) => {
    for (const blob of run.blobs()) {
      meter.received(blob.length);
      handler.onMessage(blob);
    }
  });
  let fault: Error | undefined;
  socket.on('data', (chunk: Buffer) => {
    try {
      reader.push(chunk);
    } catch (error) {
      socket.destroy(error instanceof Error ? error : undefined);
    }
  });
  socket.on('error', (error) => {
    fault = error;
  });
  socket.on('close', () => {
    reader.end();
    handler.onClose(fault);
  });
  return {
    get isClosed() {
      return socket.destroyed;
    },
    send(message) {
      meter.sent(message.length);
      socket.write(encodeFrame(message));
    },
    close: () => socket.destroy(),
  };
}
