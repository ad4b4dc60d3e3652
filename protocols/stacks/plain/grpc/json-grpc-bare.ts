import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { MeshError, messageOf } from '../../../../core/contracts/errors.ts';
import { shortReason } from '../../../../core/contracts/packet.ts';
import { framed, PREFIX_BYTES } from '../../http/grpc-frames.ts';
import { bodyOf } from '../../http/http-server.ts';
import { listenHttp2, noDate, untilClosed } from '../../http/http2-server.ts';
import { dialHttp2, type Http2Answer } from '../../http/http2-session.ts';
import { type Answer, callStack } from '../call-stack.ts';
import { INTERNAL, PATH } from './method.ts';

const TYPE = 'application/grpc+json';

/** As the one with `@grpc/grpc-js`, on Node's own HTTP/2: the heads, prefixes and trailers of gRPC over HTTP/2, and nothing else of it. */
export const jsonGrpcBare = callStack({
  transport: 'grpc',
  implementation: 'bare',
  async listen(answer, settings) {
    const { url, port, close } = await listenHttp2((...call) => void serve(answer, ...call), settings);
    return { address: url, port, close };
  },
  async dial(address, settings) {
    const http = await dialHttp2(address, settings);
    const timeout = `${settings.deadlineMs}m`;
    const head = { ':path': PATH, 'content-type': TYPE, te: 'trailers', 'grpc-timeout': timeout };
    return {
      async call(body, signal) {
        const message = framed(Buffer.from(body));
        return messageIn(await http.with((session) => session.post(head, message, signal)));
      },
      close: () => http.close(),
    };
  },
});

async function serve(answer: Answer, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
  const signal = untilClosed(stream);
  try {
    if (headers[':path'] !== PATH)
      throw new MeshError('packet', `expected ${PATH}, came ${headers[':path']}`);
    const body = framed(await answer(withoutPrefix(await bodyOf(stream)), signal));
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
  throw new MeshError('agent', `json/grpc: status ${status}: ${decodeURIComponent(reason)}`);
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
