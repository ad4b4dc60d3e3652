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
import { listenOnPlace } from '../listen.ts';
import type { WireMeter } from '../meter/wire-meter.ts';
import { createStreamStack, type MessageStream } from './stream-stack.ts';

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
    async listen(accept, settings, meter) {
      const { server, close } = createServer(settings, accept, meter);
      const port = await listenOnPlace(server, { port: 0 });
      return { address: `tcp://127.0.0.1:${settings.advertisedPort ?? port}`, port, close };
    },
    async dial(address, { tls: identity }, meter) {
      const where = { host: '127.0.0.1', port: Number(new URL(address).port) };
      const socket =
        identity === null
          ? net.connect({ ...where, noDelay: true })
          : tls.connect({ ...where, ca: identity.cert, minVersion: 'TLSv1.3' }).setNoDelay(true);
      await awaitOpen(socket, identity === null ? 'connect' : 'secureConnect', `${name}: ${address}`);
      return frameSocket(socket, meter);
    },
  });
}

const SCHEME = 'unix:';

/** JSON behind a length of four bytes on a Unix domain socket: the minimum between two processes. */
export const jsonUnix = createStreamStack({
  transport: 'unix',
  implementation: 'bare',
  hasTls: false,
  async listen(accept, settings, meter) {
    const { server, close } = createServer(settings, accept, meter);
    // The path is short, as the operating system takes 104 to 108 bytes.
    const file = path.join(os.tmpdir(), `gaia-mesh-${randomUUID().slice(0, 8)}.sock`);
    await listenOnPlace(server, { path: file });
    return { address: `${SCHEME}${file}`, close };
  },
  async dial(address, _settings, meter) {
    const socket = net.connect(address.slice(SCHEME.length));
    await awaitOpen(socket, 'connect', `json/unix: ${address}`);
    return frameSocket(socket, meter);
  },
});

function createServer(
  { tls: identity }: StackSettings,
  accept: (stream: MessageStream) => void,
  meter: WireMeter,
) {
  const listener = (socket: Socket) => accept(frameSocket(socket, meter));
  const server =
    identity === null
      ? net.createServer({ noDelay: true }, listener)
      : tls.createServer({ ...identity, noDelay: true, minVersion: 'TLSv1.3' }, listener);
  return { server, close: trackConnections(server) };
}

async function awaitOpen(socket: Socket, event: 'connect' | 'secureConnect', what: string): Promise<void> {
  try {
    await once(socket, event);
  } catch (cause) {
    throw new MeshError('agent', `${what}: ${toErrorMessage(cause)}`, { cause });
  }
}

/** Returns a stream of the mesh's frames: each message is behind its length in four bytes. */
function frameSocket(socket: Socket, meter: WireMeter): MessageStream {
  return {
    get isClosed() {
      return socket.destroyed;
    },
    start({ onMessage, onClose }) {
      const reader = new FrameReader(MAX_FRAME_BYTES, (run) => {
        for (const blob of run.blobs()) {
          meter.received(blob.length);
          onMessage(blob);
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
        onClose(fault);
      });
    },
    send(message) {
      meter.sent(message.length);
      socket.write(encodeFrame(message));
    },
    close: () => socket.destroy(),
  };
}
