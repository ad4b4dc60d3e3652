import { MeshError, messageOf } from '../../../../core/contracts/errors.ts';
import { shortReason } from '../../../../core/contracts/packet.ts';
import type { Inbox } from '../../contract/binding.ts';
import { metered } from '../../meter/metered.ts';
import { withDeadline } from '../exchange-limit.ts';
import { type Http2Answer, Http2Client } from '../http/http2-client.ts';
import { bodyOfStream, type Http2Request, listenHttp2, noDate } from '../http/http2-server.ts';
import { bodyOfPackets, packetOfBody, packetsOfBody } from '../http/packet-body.ts';
import { httpTraits } from '../http/traits.ts';
import { INTERNAL, PATH } from './call.ts';

const NAME = 'json/grpc';
const TYPE = 'application/grpc+json';
const PREFIX_BYTES = 5;

/** As the one with `@grpc/grpc-js`, on Node's own HTTP/2: the heads, prefixes and trailers of gRPC over HTTP/2, and nothing else of it. */
export const jsonGrpcBare = metered({
  name: NAME,
  protocol: 'json',
  transport: 'grpc',
  implementation: 'bare',
  packages: [],
  traits: httpTraits,
  async serve(inbox, settings) {
    const server = await listenHttp2((request) => void answer(inbox, request), settings);
    return { address: server.url, port: server.port, close: () => server.close() };
  },
  async connect(address, settings) {
    const http = await Http2Client.connect(address, settings);
    const { deadlineMs } = settings;
    const head = { ':path': PATH, 'content-type': TYPE, te: 'trailers', 'grpc-timeout': `${deadlineMs}m` };
    return {
      exchange: (packet, caller) =>
        withDeadline({ signal: caller, deadlineMs, what: `${NAME}: ${packet.id}` }, async (signal) => {
          const answer = await http.post(head, prefixed(bodyOfPackets([packet])), signal);
          return packetsOfBody(messageIn(answer));
        }),
      async close() {
        http.close();
      },
    };
  },
});

async function answer(inbox: Inbox, { stream, headers, signal }: Http2Request): Promise<void> {
  try {
    if (headers[':path'] !== PATH)
      throw new MeshError('packet', `expected ${PATH}, came ${headers[':path']}`);
    const packet = packetOfBody(withoutPrefix(await bodyOfStream(stream)));
    const body = prefixed(bodyOfPackets(await inbox(packet, signal)));
    if (stream.destroyed) return;
    stream.respond(
      { ':status': 200, 'content-type': TYPE },
      noDate({ endStream: false, waitForTrailers: true }),
    );
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(body);
  } catch (error) {
    if (stream.destroyed || stream.headersSent) return;
    const status = {
      'grpc-status': String(INTERNAL),
      'grpc-message': encodeURIComponent(shortReason(messageOf(error))),
    };
    stream.respond({ ':status': 200, 'content-type': TYPE, ...status }, noDate({ endStream: true }));
  }
}

/** @throws MeshError `agent` for a call that failed */
function messageIn({ headers, trailers, body }: Http2Answer): Buffer {
  // Where there is no body, what would be in the trailers is in the head.
  const status = trailers['grpc-status'] ?? headers['grpc-status'];
  if (status === '0') return withoutPrefix(body);
  const reason = String(
    trailers['grpc-message'] ?? headers['grpc-message'] ?? `HTTP status ${headers[':status']}`,
  );
  throw new MeshError('agent', `${NAME}: status ${status}: ${decodeURIComponent(reason)}`);
}

function prefixed(message: Buffer): Buffer {
  const whole = Buffer.alloc(PREFIX_BYTES + message.length);
  whole.writeUInt32BE(message.length, 1);
  whole.set(message, PREFIX_BYTES);
  return whole;
}

/** @throws MeshError `packet` for anything but one message that is not compressed */
function withoutPrefix(body: Buffer): Buffer {
  const isOne =
    body.length >= PREFIX_BYTES && body[0] === 0 && body.readUInt32BE(1) === body.length - PREFIX_BYTES;
  if (!isOne)
    throw new MeshError(
      'packet',
      `gRPC: expected one message that is not compressed, came ${body.length} bytes`,
    );
  return body.subarray(PREFIX_BYTES);
}
