import http from 'node:http';
import https from 'node:https';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { MeshError, readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { type HeldBytes, KeptBytes } from '@gaia-mesh/core/system/kept-bytes.ts';
import type { StackSettings } from '../contract/stack.ts';
import { type Admission, listenOnPlace } from '../listen.ts';

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
interface ListenEndpoint {
  readonly host?: string;
  readonly port?: number;
  /** Decides which connections stay, at a server that strangers can reach. */
  readonly admission?: Admission;
}

export async function listenHttp(
  listener: http.RequestListener,
  { tls, keepAliveMs, advertisedPort }: Pick<StackSettings, 'tls' | 'keepAliveMs' | 'advertisedPort'>,
  { host = '127.0.0.1', port: wanted = 0, admission }: ListenEndpoint = {},
): Promise<HttpServer> {
  const options = { keepAliveTimeout: keepAliveMs + KEEP_ALIVE_MARGIN_MS };
  const server =
    tls === null
      ? http.createServer(options, listener)
      : https.createServer({ ...options, ...tls, minVersion: 'TLSv1.3' }, listener);
  if (admission !== undefined) server.on('connection', (socket) => admission.enter(socket));
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

/** Returns the path of a request without its query, and without slashes at its end. */
export function readPath({ url = '/' }: http.IncomingMessage): string {
  return url.split('?')[0]?.replace(/(?<!^)\/+$/, '') ?? '';
}

/** Returns the host as it stands in a URL: an IPv6 address in brackets. */
export function toUrlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/**
 * A body whose parts are read as one piece. Adding a part copies it at most a few times, however small the parts are; a
 * list of parts of one byte each would take a hundred bytes for each of them.
 */
class GrowingBody {
  #buffer: Buffer = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  add(part: Buffer): void {
    // A body in one part is not copied.
    if (this.#length === 0) this.#buffer = part;
    else {
      if (this.#length + part.length > this.#buffer.length) {
        const larger = Buffer.allocUnsafeSlow(2 * (this.#length + part.length));
        this.bytes.copy(larger);
        this.#buffer = larger;
      }
      part.copy(this.#buffer, this.#length);
    }
    this.#length += part.length;
  }
}

/**
 * Reads a body to its end. @throws MeshError `limit` for more bytes than `most`, by default those of the
 * largest packet
 */
export async function readBody(
  message: AsyncIterable<unknown>,
  most = MAX_FRAME_BYTES,
  held?: HeldBytes,
): Promise<Buffer> {
  const body = new GrowingBody();
  for await (const chunk of message) {
    if (!Buffer.isBuffer(chunk)) throw new Error('a body is bytes');
    if (body.length + chunk.length > most)
      throw new MeshError('limit', `HTTP body: expected at most ${most} bytes`);
    held?.grow(chunk.length);
    body.add(chunk);
  }
  return body.bytes;
}

interface BodyLimits {
  /** Maximum bytes, as they come and unpacked. */
  readonly most?: number | undefined;
  /** Budget from which the body takes room while it is read. */
  readonly kept?: KeptBytes | undefined;
}

/**
 * Reads the body of a request. A body that is not taken is answered here: with 413 if it is too large, 415 if
 * it is packed otherwise than by gzip, 400 if it cannot be unpacked, 503 if there is no room for it.
 *
 * @returns undefined if the request has been answered
 */
export async function readRequestBody(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  { most = MAX_FRAME_BYTES, kept }: BodyLimits,
): Promise<Buffer | undefined> {
  const tooLarge = () => writeRefusal(response, 413, `expected at most ${most} bytes`);
  const packing = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (!/^(identity|gzip|x-gzip)$/.test(packing))
    return writeRefusal(response, 415, `Content-Encoding: expected gzip, received ${packing.slice(0, 32)}`, {
      'Accept-Encoding': 'gzip',
    });
  if (Number(request.headers['content-length']) > most) return tooLarge();
  const held = kept?.hold();
  try {
    // The socket would be closed with the request before the refusal is written.
    const parts = request.iterator({ destroyOnReturn: false });
    const body = await readBody(parts, most, held);
    if (packing === 'identity') return body;
    held?.grow(most);
    return await promisify(gunzip)(body, { maxOutputLength: most });
  } catch (error) {
    if (KeptBytes.isShortage(error))
      return writeRefusal(response, 503, toErrorMessage(error), { 'Retry-After': '1' });
    if (error instanceof MeshError && error.code === 'limit') return tooLarge();
    const code = readSystemCode(error);
    if (code === 'ERR_BUFFER_TOO_LARGE') return tooLarge();
    if (code?.startsWith('Z_') === true)
      return writeRefusal(response, 400, `Content-Encoding: gzip: ${toErrorMessage(error)}`);
    throw error;
  } finally {
    held?.release();
  }
}

/** Refuses a request whose body has not been read. */
export function writeRefusal(
  response: http.ServerResponse,
  status: number,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): undefined {
  writeJson(response, status, JSON.stringify({ error }), { ...headers, Connection: 'close' });
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
