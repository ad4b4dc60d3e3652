import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import net, { type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { trackConnections } from '@gaia-mesh/core/transports/tcp/forwarder.ts';
import { encodeFrame, FrameReader } from '@gaia-mesh/core/wire/frame.ts';
import { loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import type { Stack, StackSettings } from '../contract/stack.ts';
import { type Endpoint, listenOnPlace } from '../listen.ts';
import type { WireMeter } from '../meter/wire-meter.ts';
import { type Accept, createStreamStack, type MessageStream, type StreamHandler } from './stream-stack.ts';

/** A kind of endpoint: how it is read from an address and written into one. */
interface EndpointKind {
  /** Returns a free endpoint to listen on. */
  free(): Endpoint;
  formatAddress(endpoint: Endpoint): string;
  /** @throws MeshError `usage` */
  parseAddress(address: string): Endpoint;
}

const ports: EndpointKind = {
  free: () => ({ port: 0 }),
  formatAddress: (endpoint) => ('port' in endpoint ? `tcp://127.0.0.1:${endpoint.port}` : ''),
  parseAddress(address) {
    const port = /^tcp:\/\/127\.0\.0\.1:(\d+)$/.exec(address)?.[1];
    if (port === undefined)
      throw new MeshError('usage', `expected tcp://127.0.0.1:PORT, received ${address}`);
    return { port: Number(port) };
  },
};

const SCHEME = 'unix:';

const socketFiles: EndpointKind = {
  // The path is short, as the operating system takes 104 to 108 bytes.
  free: () => ({ path: path.join(os.tmpdir(), `gaia-mesh-${randomUUID().slice(0, 8)}.sock`) }),
  formatAddress: (endpoint) => ('path' in endpoint ? `${SCHEME}${endpoint.path}` : ''),
  parseAddress(address) {
    if (!address.startsWith(SCHEME)) throw new MeshError('usage', `expected unix:PATH, received ${address}`);
    return { path: address.slice(SCHEME.length) };
  },
};

/**
 * Creates a stack of the mesh's own frames over TCP, as a connection between two nodes without a hub, for any
 * adapter, with layers or without. The mesh's handshake is not part of it.
 *
 * @param spec as `--adapter` takes it: `msgpack+zstd`
 */
export async function makeMeshStack(spec: string): Promise<Stack> {
  const adapter = await loadAdapter(spec);
  const name = `mesh/${adapter.name}`;
  return createStreamStack({
    name,
    adapter,
    transport: 'tcp',
    implementation: 'bare',
    ...createFramedTransport(name, ports),
  });
}

/** JSON behind a length of four bytes on a Unix domain socket: the minimum between two processes. */
export const jsonUnix = createStreamStack({
  transport: 'unix',
  implementation: 'bare',
  hasTls: false,
  ...createFramedTransport('json/unix', socketFiles),
});

/** Creates a transport of the mesh's frames, each message behind its length in four bytes, on a socket of any kind. */
function createFramedTransport(name: string, kind: EndpointKind) {
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
  const socket =
    identity === null
      ? net.connect({ ...where, noDelay: true })
      : tls.connect({ ...where, ca: identity.cert, minVersion: 'TLSv1.3' }).setNoDelay(true);
  try {
    await once(socket, identity === null ? 'connect' : 'secureConnect');
    return socket;
  } catch (cause) {
    throw new MeshError('agent', `${what}: ${toErrorMessage(cause)}`, { cause });
  }
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
