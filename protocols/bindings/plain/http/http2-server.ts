import http2, { type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { MeshError } from '../../../../core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '../../../../core/contracts/limits.ts';
import type { BindingSettings } from '../../contract/binding.ts';
import { closerOf, listenAt } from '../listen.ts';

export interface Http2Request {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  /** Aborted when the stream is over, whoever ended it. */
  readonly signal: AbortSignal;
}

export interface Http2Server {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** An HTTP/2 server on the loopback, with TLS 1.3 where the settings have it, else with prior knowledge (RFC 9113, §3.3). */
export async function listenHttp2(
  answer: (request: Http2Request) => void,
  { tls, noDelay, advertisedPort }: BindingSettings,
): Promise<Http2Server> {
  const server =
    tls === null ? http2.createServer() : http2.createSecureServer({ ...tls, minVersion: 'TLSv1.3' });
  server.on('session', (session: ServerHttp2Session) => session.on('error', () => session.destroy()));
  server.on(tls === null ? 'connection' : 'secureConnection', (socket: Socket) => {
    // Node turns Nagle's algorithm off when a session begins, which was a moment ago.
    if (!noDelay) socket.setNoDelay(false);
  });
  server.on('stream', (stream, headers) => {
    const over = new AbortController();
    // A stream that breaks is closed next.
    stream.on('error', () => over.abort());
    stream.once('close', () => over.abort());
    answer({ stream, headers, signal: over.signal });
  });
  const close = closerOf(server);
  const port = await listenAt(server, { port: 0 });
  const scheme = tls === null ? 'http' : 'https';
  return { url: `${scheme}://127.0.0.1:${advertisedPort ?? port}`, port, close };
}

/** @throws MeshError `limit` for a body that is larger than any packet */
export async function bodyOfStream(stream: ServerHttp2Stream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk)) throw new Error('a body is bytes');
    length += chunk.length;
    if (length > MAX_FRAME_BYTES) {
      throw new MeshError('limit', `a body of HTTP/2: expected at most ${MAX_FRAME_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Options of an answer without a date: HPACK writes each second of the day in another number of bytes. Node has had the option for
 * long, and does not document it.
 */
export function noDate(options: { readonly endStream: boolean; readonly waitForTrailers?: boolean }) {
  return { ...options, sendDate: false };
}
