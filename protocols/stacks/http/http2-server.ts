import http2, { type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { trackConnections } from '@gaia-mesh/core/transports/tcp/forwarder.ts';
import type { StackSettings } from '../contract/stack.ts';
import { listenOnPlace } from '../listen.ts';
import { type HttpServer, type ListenEndpoint, toUrlHost } from './http-server.ts';

interface Http2Server extends HttpServer {
  /** The URL's host and port. */
  readonly authority: string;
}

/** Maximum concurrent requests on a connection, as many as RFC 9113 (§6.5.2) recommends at least. */
const MAX_STREAMS = 100;

/** Starts an HTTP/2 server, with TLS 1.3 where the settings have it, else with prior knowledge (RFC 9113, §3.3). */
export async function listenHttp2(
  answer: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
  { tls, noDelay, advertisedPort }: Pick<StackSettings, 'tls' | 'noDelay' | 'advertisedPort'>,
  { host = '127.0.0.1', port: wanted = 0, admission }: ListenEndpoint = {},
): Promise<Http2Server> {
  // Strangers may open connections, so that a client's streams on one of them are bounded, too.
  const settings = admission === undefined ? {} : { settings: { maxConcurrentStreams: MAX_STREAMS } };
  const server =
    tls === null
      ? http2.createServer(settings)
      : http2.createSecureServer({ ...settings, ...tls, minVersion: 'TLSv1.3' });
  server.on('session', (session: ServerHttp2Session) => {
    session.on('error', () => session.destroy());
    admission?.enter(session);
  });
  server.on(tls === null ? 'connection' : 'secureConnection', (socket: Socket) => {
    // Node turned Nagle's algorithm off when the session began, a moment ago.
    if (!noDelay) socket.setNoDelay(false);
  });
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    // A client that went away is no fault of the server's; the stream is closed next.
    stream.on('error', () => stream.destroy());
    answer(stream, headers);
  });
  const close = trackConnections(server);
  const port = await listenOnPlace(server, { host, port: wanted });
  const authority = `${toUrlHost(host)}:${advertisedPort ?? port}`;
  return { authority, url: `${tls === null ? 'http' : 'https'}://${authority}`, port, close };
}
