import net, { type Socket } from 'node:net';
import tls from 'node:tls';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { FrameReader, frameOf } from '@gaia-mesh/core/wire/frame.ts';
import type { StackSettings } from '../contract/stack.ts';
import { closerOf, connected, listenAt, type Place } from '../listen.ts';
import type { WireMeter } from '../meter/wire-meter.ts';
import type { Accept, MessageStream, StreamHandler } from './stream-stack.ts';

/** What is read from an address and written into one. */
export interface Places {
  /** A free one, to listen at. */
  free(): Place;
  addressOf(place: Place): string;
  /** @throws MeshError `usage` */
  placeIn(address: string): Place;
}

/** Messages as the mesh's frames, each behind its length in four bytes, on a socket of any kind. */
export function framedTransport(name: string, places: Places) {
  return {
    async listen(accept: Accept, settings: StackSettings, meter: WireMeter) {
      const server = serverOf(settings, (socket) => {
        accept((handler) => framedSocket(socket, handler, meter));
      });
      const close = closerOf(server);
      const place = places.free();
      const port = await listenAt(server, place);
      if ('path' in place) return { address: places.addressOf(place), close };
      return { address: places.addressOf({ port: settings.advertisedPort ?? port }), port, close };
    },
    async dial(address: string, settings: StackSettings, handler: StreamHandler, meter: WireMeter) {
      const socket = await dialled(places.placeIn(address), settings, `${name}: ${address}`);
      return framedSocket(socket, handler, meter);
    },
  };
}

function serverOf(settings: StackSettings, accept: (socket: Socket) => void): net.Server {
  const { noDelay } = settings;
  if (settings.tls === null) return net.createServer({ noDelay }, accept);
  return tls.createServer({ ...settings.tls, noDelay, minVersion: 'TLSv1.3' }, accept);
}

async function dialled(
  place: Place,
  { tls: identity, noDelay }: StackSettings,
  what: string,
): Promise<Socket> {
  const where = 'port' in place ? { host: '127.0.0.1', ...place } : place;
  if (identity === null) return connected(net.connect({ ...where, noDelay }), 'connect', what);
  const socket = tls.connect({ ...where, ca: identity.cert, minVersion: 'TLSv1.3' });
  return connected(socket.setNoDelay(noDelay), 'secureConnect', what);
}

function framedSocket(socket: Socket, handler: StreamHandler, meter: WireMeter): MessageStream {
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
      socket.write(frameOf(message));
    },
    close: () => socket.destroy(),
  };
}
