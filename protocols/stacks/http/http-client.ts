import http from 'node:http';
import https from 'node:https';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { joinUrl, type UrlPolicy } from '@gaia-mesh/core/system/outgoing-url.ts';
import type { StackSettings } from '../contract/stack.ts';
import { readBody } from './http-server.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path on the origin of the client. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

/** The settings of a stack that an HTTP client needs. */
type ClientSettings = Pick<StackSettings, 'tls' | 'connections' | 'keepAliveMs'>;

/** A client on Node's own HTTP/1.1: a pool of connections, and no headers but the caller's, Host and Content-Length. */
export class HttpClient {
  readonly #origin: string;
  readonly #agent: http.Agent;
  readonly #request: typeof http.request;
  readonly #mayAsk: UrlPolicy;
  readonly #keepsAlive: boolean;

  /**
   * @param url of a server; all requests go to its origin
   * @param mayAsk decides about the URL of every request before it is sent
   */
  constructor(
    url: string | URL,
    { tls, connections, keepAliveMs }: ClientSettings,
    mayAsk: UrlPolicy = () => true,
  ) {
    const { origin, protocol } = new URL(url);
    this.#origin = origin;
    this.#mayAsk = mayAsk;
    this.#keepsAlive = keepAliveMs > 0;
    const options = {
      keepAlive: this.#keepsAlive,
      maxSockets: connections,
      maxFreeSockets: connections,
      timeout: this.#keepsAlive ? keepAliveMs : undefined,
    };
    const isSecure = protocol === 'https:';
    // The certificate of a foreign server is verified by the system's authorities.
    const trust = { ca: tls?.cert, minVersion: tls === null ? undefined : ('TLSv1.3' as const) };
    this.#agent = isSecure ? new https.Agent({ ...options, ...trust }) : new http.Agent(options);
    this.#request = isSecure ? https.request : http.request;
  }

  /**
   * Sends a request and resolves with the head of the answer; the caller reads its body. A redirect is an
   * answer like any other and is not followed.
   *
   * @throws MeshError `agent` for a connection that failed or a signal that aborted, `config` for a URL that
   * is not allowed
   */
  async open({ method, path, headers, body, signal }: HttpRequest): Promise<http.IncomingMessage> {
    const url = joinUrl(this.#origin, path);
    if (!this.#mayAsk(url))
      throw new MeshError('config', `${url.origin}: requests to this address are not allowed`);
    const allHeaders: http.OutgoingHttpHeaders = { ...headers };
    if (body !== undefined) allHeaders['Content-Length'] = Buffer.byteLength(body);
    return new Promise((resolve, reject) => {
      const request = this.#request(url, { method, agent: this.#agent, signal, headers: allHeaders });
      request.once('response', resolve);
      request.once('error', (cause) => {
        reject(new MeshError('agent', `${method} ${this.#origin}: ${toErrorMessage(cause)}`, { cause }));
      });
      // An idle connection has the pool's time-out; one in use has only the signal.
      request.once('socket', (socket) => socket.setTimeout(0));
      request.end(body);
    });
  }

  /** Sends a request like {@link open} and resolves with the body as text. */
  async fetch(request: HttpRequest): Promise<{ readonly status: number; readonly text: string }> {
    const response = await this.open(request);
    try {
      return { status: response.statusCode ?? 0, text: (await readBody(response)).toString() };
    } catch (cause) {
      if (cause instanceof MeshError) throw cause;
      throw new MeshError('agent', `${request.method} ${this.#origin}: ${toErrorMessage(cause)}`, { cause });
    }
  }

  /** Sends a request like {@link open}, whose answer nothing reads. */
  async send(request: HttpRequest): Promise<void> {
    const response = await this.open(request);
    // The connection stays for the next request if the answer has ended with its head.
    if (response.statusCode === 204 || response.headers['content-length'] === '0') response.resume();
    else response.destroy();
  }

  close(): void {
    this.#agent.destroy();
  }
}
