import { once } from 'node:events';
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { toErrorMessage as textOf } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import type { MessageForm } from '@gaia-mesh/protocols/scan/protobuf-message.ts';
import type { StackSettings } from '../../contract/stack.ts';
import type { HttpServer, ListenEndpoint } from '../../http/http-server.ts';
import { listenHttp2 } from '../../http/http2-server.ts';
import type { A2aAgent } from '../agent/agent.ts';
import { createFaultError, toFault } from '../agent/faults.ts';
import { encodeAnswer } from '../agent/task.ts';
import { checkVersion } from '../bare/http-requests.ts';
import { frameMessage, readMessages } from './frames.ts';
import { encodeStatusDetails, methods, SERVICE_PATH } from './messages.ts';

const HEAD = { ':status': 200, 'content-type': 'application/grpc+proto' };
const STREAMS: ReadonlySet<string> = new Set(['SendStreamingMessage', 'SubscribeToTask']);

/**
 * Maximum nesting of a task in a list. Protobuf libraries read at most a hundred messages within each other,
 * and an object takes three of them.
 */
const MAX_LISTED_DEPTH = 32;

/** Decides about a request by its headers before anything of it is read. @throws MeshError with a fault */
type Guard = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

interface GrpcEndpoint extends ListenEndpoint {
  readonly guard?: Guard;
}

/**
 * Serves the gRPC binding of A2A (§10) on Node's own HTTP/2. The returned `url` has no scheme, as gRPC's
 * targets have none.
 */
export async function serveGrpc(
  agent: A2aAgent,
  settings: Pick<StackSettings, 'tls' | 'noDelay' | 'advertisedPort'>,
  { guard, ...place }: GrpcEndpoint = {},
): Promise<HttpServer> {
  const { authority, ...server } = await listenHttp2(
    (stream, headers) => void answer(agent, stream, headers, guard),
    settings,
    place,
  );
  return { ...server, url: authority };
}

async function answer(
  agent: A2aAgent,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  guard: Guard | undefined,
): Promise<void> {
  try {
    guard?.(stream, headers);
    const path = headers[':path'] ?? '';
    const method = path.startsWith(SERVICE_PATH) ? path.slice(SERVICE_PATH.length) : '';
    const forms = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (forms === undefined)
      throw createFaultError('methodNotFound', `no method ${JSON.stringify(path.slice(0, 64))}`);
    const [request, reply] = forms;
    checkVersion(headers['a2a-version']);
    const params = await readParams(request, stream, agent);
    if (STREAMS.has(method)) {
      const events = agent.stream(method, params, stream);
      begin(stream);
      for await (const event of events) {
        if (stream.destroyed) return; // The client has gone; the task goes on.
        await write(stream, reply.encode(event));
      }
    } else {
      const answered = await agent.call(method, params);
      if (stream.destroyed) return;
      const result = encodeAnswer(answered, (written) => reply.encode(written), MAX_LISTED_DEPTH);
      agent.kept?.holdUntilSent(result.length, stream);
      begin(stream);
      stream.write(frameMessage(result));
    }
    stream.end();
  } catch (error) {
    if (stream.destroyed) return;
    const status = toGrpcStatus(error);
    if (!stream.headersSent) {
      stream.respond({ ...HEAD, ...status }, { endStream: true });
      // A client that still sends is asked to stop, without an error (RFC 9113, §8.1).
      if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
    } else {
      stream.removeAllListeners('wantTrailers').once('wantTrailers', () => stream.sendTrailers(status));
      stream.end();
    }
  }
}

function begin(stream: ServerHttp2Stream): void {
  stream.respond(HEAD, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
}

async function write(stream: ServerHttp2Stream, message: Uint8Array): Promise<void> {
  if (stream.write(frameMessage(message))) return;
  await Promise.race([once(stream, 'drain'), once(stream, 'close')]);
}

/** Reads the one message of a request, and refuses it as soon as a second one begins. */
async function readParams(
  form: MessageForm,
  stream: ServerHttp2Stream,
  { maxBodyBytes: most = MAX_FRAME_BYTES, kept }: A2aAgent,
): Promise<object> {
  const held = kept?.hold();
  try {
    let message: Buffer | undefined;
    // The stream has to stay for the answer.
    const body = readMessages(stream.iterator({ destroyOnReturn: false }), most, held);
    for await (const next of body) {
      if (message !== undefined)
        throw createFaultError('invalidRequest', 'expected one message, received more');
      message = next;
    }
    if (message === undefined)
      throw createFaultError('invalidRequest', 'expected one message, received none');
    return decodeParams(form, message);
  } finally {
    held?.release();
  }
}

function decodeParams(form: MessageForm, message: Buffer): object {
  try {
    return form.decode(message);
  } catch (cause) {
    throw createFaultError('invalidParams', textOf(cause));
  }
}

function toGrpcStatus(error: unknown): Record<string, string> {
  const { grpc, reason } = toFault(error);
  const text = shortenReason(textOf(error));
  const status: Record<string, string> = {
    'grpc-status': String(grpc[0]),
    'grpc-message': encodeStatusText(text),
  };
  if (reason !== undefined) status['grpc-status-details-bin'] = encodeStatusDetails(grpc[0], text, reason);
  return status;
}

/**
 * Encodes an error text for `grpc-message`: bytes of its UTF-8 outside of 0x20 to 0x7E, and `%`, are escaped (gRPC
 * over HTTP/2, "Status-Message").
 */
function encodeStatusText(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) =>
      byte < 0x20 || byte > 0x7e || byte === 0x25
        ? `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
        : String.fromCharCode(byte),
    )
    .join('');
}
