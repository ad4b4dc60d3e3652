import { randomUUID } from 'node:crypto';
import { MeshError } from '../../../../core/contracts/errors.ts';
import { natsAddress } from '../../../../core/transports/nats/nats-address.ts';
import { NatsServer } from '../../../../core/transports/nats/nats-server.ts';
import { hasNatsServer, NatsServerProcess } from '../../../../core/transports/nats/nats-server-process.ts';
import type { StackSettings, TlsIdentity } from '../../contract/stack.ts';
import { WireMeter } from '../../meter/wire-meter.ts';
import { type MessageStream, type StreamHandler, streamStack } from '../stream/stream-stack.ts';

const NAME = 'json/nats';
const SUBJECT = 'mesh.packets';
/** `max_payload` of a server that was not told otherwise. */
const LARGEST_MESSAGE_BYTES = 1024 * 1024;

/**
 * Packets as messages of NATS: requests to one subject, answers to one of the client's own. A broker, `nats-server`, is between the
 * ends, and what one end writes is not what the other one reads. Both ends have one connection, whatever the settings say of a pool.
 */
export const jsonNats = streamStack({
  transport: 'nats',
  implementation: 'sdk',
  traits: { hasBroker: true, largestMessageBytes: LARGEST_MESSAGE_BYTES },
  hasOneConnection: true,
  async listen(accept, { advertisedPort, tls }, meter) {
    if (!hasNatsServer())
      throw new MeshError('config', `${NAME} needs nats-server (Debian: apt-get install nats-server)`);
    const broker = await NatsServerProcess.start({ tls });
    const server = await connected(broker.url, tls);
    server.subscribe(SUBJECT, ({ bytes, reply }) => {
      meter.received(bytes.length);
      accept(() => ({
        isClosed: false,
        send: (message) => publish(server, meter, reply ?? '', message),
        close: () => undefined,
      })).onMessage(bytes);
    });
    await server.confirmed();
    const { protocol, port } = new URL(broker.url);
    return {
      address: `${protocol}//127.0.0.1:${advertisedPort ?? port}`,
      port: Number(port),
      processes: broker.pid === undefined ? [] : [broker.pid],
      async close() {
        await server.close();
        await broker.stop();
      },
    };
  },
  dial: opened,
});

async function opened(
  address: string,
  { tls }: StackSettings,
  handler: StreamHandler,
  meter: WireMeter,
): Promise<MessageStream> {
  const server = await connected(address, tls);
  const answers = `_INBOX.${randomUUID()}`;
  let isClosed = false;
  server.subscribe(answers, ({ bytes, isNobodyThere }) => {
    if (isNobodyThere) return handler.onClose(new Error('nobody listens there'));
    meter.received(bytes.length);
    handler.onMessage(bytes);
  });
  server.onLost((fault) => {
    isClosed = true;
    handler.onClose(fault);
  });
  await server.confirmed();
  return {
    get isClosed() {
      return isClosed;
    },
    send: (message) => publish(server, meter, SUBJECT, message, answers),
    close() {
      isClosed = true;
      void server.close();
    },
  };
}

/** TLS begins behind the server's greeting, in the middle of a connection, where Node tells nobody of it. */
async function connected(url: string, tls: TlsIdentity | null): Promise<NatsServer> {
  const address = natsAddress(url, {});
  const server = await NatsServer.connect({ address, name: 'gaia-mesh', reconnects: false, ca: tls?.cert });
  const { socket } = server;
  if (tls !== null && (socket === undefined || WireMeter.of(socket) === undefined)) {
    await server.close();
    throw new MeshError('config', `${NAME}: this version of @nats-io/transport-node does not show its TLS`);
  }
  return server;
}

/** @throws MeshError `packet` for a message that is larger than the broker takes */
function publish(
  server: NatsServer,
  meter: WireMeter,
  subject: string,
  message: Uint8Array,
  reply?: string,
): void {
  if (message.length > server.maxMessageBytes) {
    const why = `expected at most ${server.maxMessageBytes} bytes, which the broker takes, came ${message.length}`;
    throw new MeshError('packet', `${NAME}: ${why}`);
  }
  if (subject === '') return; // Nobody asked for an answer.
  meter.sent(message.length);
  server.publish(subject, message, reply);
}
