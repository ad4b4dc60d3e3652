import http from 'node:http';
import https from 'node:https';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import type { StackSettings } from '../contract/stack.ts';
import { listenOnPlace } from '../listen.ts';

/** An HTTP/1.1 server on the loopback, with TLS 1.3 where the settings have it. */
export interface HttpServer {
  /** `http://127.0.0.1:port`, without a path, with the advertised port. */
  readonly url: string;
  /** Port on which the server listens. */
  readonly port: number;
  /** Closes at once, including open connections. */
  close(): Promise<void>;
}

/**
 * Extra time that a server keeps an idle connection after its clients would close it: otherwise both would
 * close at the same time, and a request would meet a closed connection.
 */
const KEEP_ALIVE_MARGIN_MS = 60_000;

/** Address of a server; by default any free port of the loopback. */
export interface ListenEndpoint {
  readonly host?: string;
  readonly port?: number;
  /** Maximum number of connections; more are closed as they come. */
  readonly maxConnections?: number;
}

export async function listenHttp(
  listener: http.RequestListener,
  {
    tls,
    noDelay,
    keepAliveMs,
    advertisedPort,
  }: Pick<StackSettings, 'tls' | 'noDelay' | 'keepAliveMs' | 'advertisedPort'>,
  { host = '127.0.0.1', port: wanted = 0, maxConnections }: ListenEndpoint = {},
): Promise<HttpServer> {
  const options = { noDelay, keepAliveTimeout: keepAliveMs + KEEP_ALIVE_MARGIN_MS };
  const server =
    tls === null
      ? http.createServer(options, listener)
      : https.createServer({ ...options, ...tls, minVersion: 'TLSv1.3' }, listener);
  if (maxConnections !== undefined) server.maxConnections = maxConnections;
  const port = await listenOnPlace(server, { host, port: wanted });
  return {
    url: `${tls === null ? 'http' : 'https'}://${toUrlHost(host)}:${advertisedPort ?? port}`,
    port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Returns the host as it stands in a URL: an IPv6 address in brackets. */
export function toUrlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/**
 * Reads a body to its end. @throws MeshError `limit` for more bytes than `most`, by default those of the
 * largest packet
 */
export async function readBody(message: AsyncIterable<unknown>, most = MAX_FRAME_BYTES): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message) {
    if (!Buffer.isBuffer(chunk)) throw new Error('a body is bytes');
    length += chunk.length;
    if (length > most) throw new MeshError('limit', `HTTP body: expected at most ${most} bytes`);
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

export function writeJson(
  response: http.ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const own = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
  response.writeHead(status, { ...own, ...headers }).end(text);
}
