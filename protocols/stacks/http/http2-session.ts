import { once } from 'node:events';
import http2, { type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { MeshError, messageOf } from '../../../core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '../../../core/contracts/limits.ts';
import { ConnectionPool } from '../connection-pool.ts';
import type { StackSettings } from '../contract/stack.ts';
import { connected } from '../listen.ts';

interface Http2Answer {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * A client on Node's own HTTP/2: requests share a connection, and as many connections as the settings have.
 *
 * @throws MeshError `agent` when nobody listens there
 */
export function dialHttp2(url: string, settings: StackSettings): Promise<ConnectionPool<Http2Session>> {
  return ConnectionPool.opened(() => Http2Session.open(new URL(url), settings), settings);
}

class Http2Session {
  readonly #session: ClientHttp2Session;

  private constructor(session: ClientHttp2Session) {
    this.#session = session;
  }

  static async open(url: URL, { tls: identity, noDelay }: StackSettings): Promise<Http2Session> {
    const where = { host: url.hostname, port: Number(url.port) };
    const secure = { ca: identity?.cert, minVersion: 'TLSv1.3', ALPNProtocols: ['h2'] } as const;
    const socket =
      identity === null
        ? await connected(net.connect(where), 'connect', url.href)
        : await connected(tls.connect({ ...where, ...secure }), 'secureConnect', url.href);
    const session = http2.connect(url, { createConnection: () => socket });
    let fault: Error | undefined;
    session.on('error', (error) => {
      fault = error;
    });
    // Node turns Nagle's algorithm off when a session begins.
    if (!noDelay) socket.setNoDelay(false);
    // The server's settings come first, before anybody is asked.
    await Promise.race([once(session, 'remoteSettings'), once(session, 'close')]);
    if (session.destroyed)
      throw new MeshError('agent', `${url.href}: ${messageOf(fault ?? 'it was closed')}`);
    return new Http2Session(session);
  }

  get isClosed(): boolean {
    return this.#session.closed || this.#session.destroyed;
  }

  /**
   * Posts a body.
   *
   * @throws MeshError `agent` for a connection or stream that failed, and `limit` for an answer that is larger than any packet
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
          stream.destroy(
            new MeshError('limit', `an answer of HTTP/2: expected at most ${MAX_FRAME_BYTES} bytes`),
          );
        }
        chunks.push(chunk);
      });
      stream.once('end', () => resolve({ headers: answer, body: Buffer.concat(chunks) }));
      stream.once('error', (cause) => {
        reject(
          cause instanceof MeshError
            ? cause
            : new MeshError('agent', `HTTP/2: ${messageOf(cause)}`, { cause }),
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
