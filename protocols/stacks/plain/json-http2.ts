import { once } from 'node:events';
import http2, {
  type ClientHttp2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { trackConnections } from '@gaia-mesh/core/transports/tcp/forwarder.ts';
import { ConnectionPool } from '../connection-pool.ts';
import type { StackSettings } from '../contract/stack.ts';
import { readBody } from '../http/http-server.ts';
import { awaitConnection, listenOnPlace } from '../listen.ts';
import { type Answer, callStack } from './call-stack.ts';

const TYPE = 'application/json';

/** Packets as bodies like `json/http1`, on HTTP/2. */
export const jsonHttp2 = callStack({
  transport: 'http2',
  implementation: 'bare',
  async listen(answer, { tls: identity, advertisedPort }) {
    // Without TLS clients know beforehand that it is HTTP/2 (RFC 9113, §3.3).
    const server =
      identity === null
        ? http2.createServer()
        : http2.createSecureServer({ ...identity, minVersion: 'TLSv1.3' });
    server.on('session', (session: ServerHttp2Session) => session.on('error', () => session.destroy()));
    server.on('stream', (stream: ServerHttp2Stream) => {
      // A client that went away is no fault of the server's; the stream is closed next.
      stream.on('error', () => stream.destroy());
      void serve(answer, stream);
    });
    const close = trackConnections(server);
    const port = await listenOnPlace(server, { port: 0 });
    const scheme = identity === null ? 'http' : 'https';
    return { address: `${scheme}://127.0.0.1:${advertisedPort ?? port}`, port, close };
  },
  async dial(address, settings) {
    const http = await dialHttp2(address, settings);
    return {
      async call(request, signal) {
        const head = { ':path': '/', 'content-type': TYPE };
        const bytes = Buffer.from(request);
        const { headers, body } = await http.with((session) => session.post(head, bytes, signal));
        const status = Number(headers[':status']);
        if (status === 200 || status === 204) return body;
        throw new MeshError('agent', `json/http2: expected status 200 or 204, received ${status}: ${body}`);
      },
      close: () => http.close(),
    };
  },
});

/**
 * Options of a response without a date: HPACK writes each second of the day in another number of bytes. Node
 * has long had this option but does not document it.
 */
const NO_DATE = { endStream: false, sendDate: false };

async function serve(answer: Answer, stream: ServerHttp2Stream): Promise<void> {
  const send = (status: number, type: string, body: Buffer) => {
    if (stream.destroyed || stream.closed) return;
    stream.respond({ ':status': status, 'content-type': type }, NO_DATE);
    stream.end(body);
  };
  const over = new AbortController();
  stream.once('close', () => over.abort());
  try {
    const body = await answer(await readBody(stream), over.signal);
    if (body.length > 0) return send(200, TYPE, body);
    if (!stream.destroyed) stream.respond({ ':status': 204 }, { ...NO_DATE, endStream: true });
  } catch (error) {
    send(500, 'text/plain', Buffer.from(toErrorMessage(error)));
  }
}

interface Http2Answer {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * Opens a client on Node's own HTTP/2: requests share a connection, and there are as many connections as the
 * settings allow.
 *
 * @throws MeshError `agent` if no server listens there
 */
function dialHttp2(url: string, settings: StackSettings): Promise<ConnectionPool<Http2Session>> {
  return ConnectionPool.opened(() => Http2Session.open(new URL(url), settings), settings);
}

class Http2Session {
  readonly #session: ClientHttp2Session;

  private constructor(session: ClientHttp2Session) {
    this.#session = session;
  }

  static async open(url: URL, { tls: identity }: StackSettings): Promise<Http2Session> {
    const where = { host: url.hostname, port: Number(url.port) };
    const secure = { ca: identity?.cert, minVersion: 'TLSv1.3', ALPNProtocols: ['h2'] } as const;
    const socket =
      identity === null
        ? await awaitConnection(net.connect(where), 'connect', url.href)
        : await awaitConnection(tls.connect({ ...where, ...secure }), 'secureConnect', url.href);
    const session = http2.connect(url, { createConnection: () => socket });
    let fault: Error | undefined;
    session.on('error', (error) => {
      fault = error;
    });
    // The server's settings come first, before any request.
    await Promise.race([once(session, 'remoteSettings'), once(session, 'close')]);
    if (session.destroyed)
      throw new MeshError('agent', `${url.href}: ${toErrorMessage(fault ?? 'it was closed')}`);
    return new Http2Session(session);
  }

  get isClosed(): boolean {
    return this.#session.closed || this.#session.destroyed;
  }

  /**
   * Posts a body and resolves with the answer's.
   *
   * @throws MeshError `agent` for a connection or stream that failed, and `limit` for an answer that is
   * larger than any packet
   */
  post(
    headers: Readonly<Record<string, string>>,
    body: Uint8Array,
    signal: AbortSignal,
  ): Promise<Http2Answer> {
    return new Promise((resolve, reject) => {
      const stream = this.#session.request({ ':method': 'POST', ...headers }, { signal });
      let answer: IncomingHttpHeaders = {};
      const chunks: Buffer[] = [];
      let length = 0;
      stream.once('response', (head) => {
        answer = head;
      });
      stream.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > MAX_FRAME_BYTES) {
          stream.destroy(new MeshError('limit', `HTTP/2 answer: expected at most ${MAX_FRAME_BYTES} bytes`));
        }
        chunks.push(chunk);
      });
      stream.once('end', () => resolve({ headers: answer, body: Buffer.concat(chunks) }));
      stream.once('error', (cause) => {
        reject(
          cause instanceof MeshError
            ? cause
            : new MeshError('agent', `HTTP/2: ${toErrorMessage(cause)}`, { cause }),
        );
      });
      stream.once('close', () =>
        reject(new MeshError('agent', 'HTTP/2: the stream was closed before its end')),
      );
      stream.end(body);
    });
  }

  close(): void {
    this.#session.destroy();
  }
}
