import net, { type Socket } from 'node:net';
import tls from 'node:tls';
import { MAX_FRAME_BYTES } from '../../../../core/contracts/limits.ts';
import type { BindingSettings, BindingTraits } from '../../contract/binding.ts';
import type { UnmeteredBinding } from '../../meter/metered.ts';
import { closerOf, connected, listenAt, type Place } from '../listen.ts';
import { framedSocket } from './framed-socket.ts';
import type { MessageStream } from './message-stream.ts';
import { streamClient } from './packet-client.ts';
import type { PacketCoder } from './packet-coder.ts';
import { packetHandler } from './packet-server.ts';

export const streamTraits: BindingTraits = {
  replies: 'same exchange',
  oneWay: 'silent',
  later: ['hold'],
  hasTls: true,
  largestMessageBytes: MAX_FRAME_BYTES,
};

/** What is read from an address and written into one. */
export interface Places {
  /** A free one, to listen at. */
  free(): Place;
  addressOf(place: Place): string;
  /** @throws MeshError `usage` */
  placeIn(address: string): Place;
}

/** `serve` and `connect` of packets in frames. */
export function framed(
  name: string,
  places: Places,
  coder: () => PacketCoder,
): Pick<UnmeteredBinding, 'serve' | 'connect'> {
  return {
    async serve(inbox, settings, meter) {
      const accept = (socket: Socket) => {
        const stream: MessageStream = framedSocket(
          socket,
          packetHandler(inbox, coder(), () => stream),
          meter,
        );
      };
      const server = serverOf(settings, accept);
      const close = closerOf(server);
      const place = places.free();
      const port = await listenAt(server, place);
      const told = 'port' in place ? { port: settings.advertisedPort ?? port } : place;
      return { address: places.addressOf(told), port: 'port' in place ? port : undefined, close };
    },
    connect: (address, settings, meter) =>
      streamClient({
        name,
        settings,
        coder,
        open: async (handler) => {
          const socket = await dialled(places.placeIn(address), settings, `${name}: ${address}`);
          return framedSocket(socket, handler, meter);
        },
      }),
  };
}

function serverOf(settings: BindingSettings, accept: (socket: Socket) => void): net.Server {
  const { noDelay } = settings;
  if (settings.tls === null) return net.createServer({ noDelay }, accept);
  return tls.createServer({ ...settings.tls, noDelay, minVersion: 'TLSv1.3' }, accept);
}

async function dialled(
  place: Place,
  { tls: identity, noDelay }: BindingSettings,
  what: string,
): Promise<Socket> {
  const where = 'port' in place ? { ...place, host: '127.0.0.1' } : place;
  if (identity === null) return connected(net.connect({ ...where, noDelay }), 'connect', what);
  const socket = tls.connect({ ...where, ca: identity.cert, minVersion: 'TLSv1.3' });
  return connected(socket.setNoDelay(noDelay), 'secureConnect', what);
}
