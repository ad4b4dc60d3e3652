import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { toErrorMessage as textOf } from '@gaia-mesh/core/contracts/errors.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import type { MessageForm } from '@gaia-mesh/protocols/scan/protobuf-message.ts';
import type { StackSettings } from '../../contract/stack.ts';
import type { HttpServer, ListenEndpoint } from '../../http/http-server.ts';
import { listenHttp2 } from '../../http/http2-server.ts';
import type { A2aAgent } from '../agent/agent.ts';
import { createFaultError, toFault } from '../agent/faults.ts';
import { checkVersion } from '../bare/http-requests.ts';
import { frameMessage, readMessages } from './frames.ts';
import { encodeStatusDetails, methods, SERVICE_PATH } from './messages.ts';

const HEAD = { ':status': 200, 'content-type': 'application/grpc+proto' };
const STREAMS: ReadonlySet<string> = new Set(['SendStreamingMessage', 'SubscribeToTask']);

/** Returns the reason why a request is refused; undefined if it is allowed. */
type Refusal = (headers: IncomingHttpHeaders) => string | undefined;

interface GrpcEndpoint extends ListenEndpoint {
  readonly refusal?: Refusal;
}

/**
 * Serves the gRPC binding of A2A (§10) on Node's own HTTP/2. The returned `url` has no scheme, as gRPC's
 * targets have none.
 */
export async function serveGrpc(
  agent: A2aAgent,
  settings: Pick<StackSettings, 'tls' | 'noDelay' | 'advertisedPort'>,
  { refusal, ...place }: GrpcEndpoint = {},
): Promise<HttpServer> {
  const { authority, ...server } = await listenHttp2(
    (stream, headers) => void answer(agent, stream, headers, refusal),
    settings,
    place,
  );
  return { ...server, url: authority };
}

async function answer(
  agent: A2aAgent,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  refusal: Refusal | undefined,
): Promise<void> {
  try {
    const refused = refusal?.(headers);
    if (refused !== undefined) throw createFaultError('unauthenticated', refused);
    const path = headers[':path'] ?? '';
    const method = path.startsWith(SERVICE_PATH) ? path.slice(SERVICE_PATH.length) : '';
    const forms = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (forms === undefined)
      throw createFaultError('methodNotFound', `no method ${JSON.stringify(path.slice(0, 64))}`);
    const [request, reply] = forms;
    checkVersion(headers['a2a-version']);
    const params = await readParams(request, stream, agent.maxBodyBytes);
    if (STREAMS.has(method)) {
      const events = agent.stream(method, params);
      begin(stream);
      for await (const event of events) {
        if (stream.destroyed) return; // The client has gone; the task goes on.
        await write(stream, reply.encode(event));
      }
    } else {
      const result = reply.encode(await agent.call(method, params));
      if (stream.destroyed) return;
      begin(stream);
      stream.write(frameMessage(result));
    }
    stream.end();
  } catch (error) {
    if (stream.destroyed) return;
    const status = toGrpcStatus(error);
    if (!stream.headersSent) stream.respond({ ...HEAD, ...status }, { endStream: true });
    else {
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

async function readParams(form: MessageForm, body: AsyncIterable<unknown>, most?: number): Promise<object> {
  const messages: Buffer[] = [];
  // The loop reads to the end of the stream: leaving it early would destroy the stream.
  for await (const message of readMessages(body, most)) messages.push(message);
  const [message] = messages;
  if (message === undefined || messages.length > 1)
    throw createFaultError('invalidRequest', `expected one message, received ${messages.length}`);
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
