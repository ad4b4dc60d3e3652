import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError, readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { isSameSecret } from '@gaia-mesh/core/system/same-secret.ts';
import { printError } from '../terminal/print.ts';

const HOST = '127.0.0.1';
/** A few pages with one stream each, and what they ask for meanwhile. */
const MAX_CONNECTIONS = 32;
const MAX_HEADER_BYTES = 8 * 1024;
const REQUEST_TIMEOUT_MS = 5_000;
const TOKEN_BYTES = 24;
/** Whether pages are open is looked at so often. */
const LOOK_EVERY_MS = 200;

/** What was asked for, below the token. */
export interface PageRequest {
  /** `''` is the page itself. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The last event that the page has had, where it comes back. */
  readonly lastEventId: number;
  readonly response: ServerResponse;
}

/** Answers a request, or says by undefined that there is no such thing. A value is sent as JSON, a page as HTML. */
export type Answer =
  | { readonly json: unknown }
  | { readonly html: string; readonly policy: string }
  | 'streams';
export type Answerer = (request: PageRequest) => Promise<Answer | undefined> | Answer | undefined;

/** Of everything that is sent: nobody keeps it, frames it, or reads it from another page. */
const HEADERS = {
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/**
 * Serves a page to the browsers of this machine. Any process can connect to a port, and any web page can make a browser do it: so
 * nothing is said to those who do not have the token of the address, and to none by another name than the loopback's, which a name
 * that an attacker points here would be.
 */
export class PageServer {
  readonly url: string;
  readonly #server: Server;
  /** Streams that are open. */
  #open = 0;
  #servedMs = Number.NEGATIVE_INFINITY;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  /** @throws MeshError `usage` where the port is taken */
  static async start(port: number, answer: Answerer): Promise<PageServer> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: REQUEST_TIMEOUT_MS });
    server.maxConnections = MAX_CONNECTIONS;
    server.headersTimeout = REQUEST_TIMEOUT_MS;
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(createPortError(port, error)));
      server.listen(port, HOST, () => resolve());
    });
    const taken = (server.address() as AddressInfo).port;
    const pages = new PageServer(server, `http://${HOST}:${taken}/${token}/`);
    const hosts = new Set([`${HOST}:${taken}`, `localhost:${taken}`]);
    // What is listened on keeps a process alive; who listens does not.
    server.on('connection', (socket) => socket.unref());
    server.on('request', (request, response) => {
      for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
      const inside = request.url === undefined ? undefined : stripToken(request.url, token);
      if (!hosts.has(request.headers.host ?? '') || inside === undefined) return refuse(response, 403);
      if (request.method !== 'GET') return refuse(response, 405);
      void pages.#serve(request, response, inside, answer);
    });
    return pages;
  }

  /** It alone keeps the process alive no longer. */
  unref(): void {
    this.#server.unref();
  }

  get isWatched(): boolean {
    return this.#open > 0;
  }

  /** Somebody has got the page a moment ago, and may be about to open its stream. */
  isComing(withinMs: number): boolean {
    return performance.now() - this.#servedMs < withinMs;
  }

  /** Settles when a page is open, or when it took too long. */
  async entered(mostMs: number, signal: AbortSignal): Promise<void> {
    const deadlineMs = performance.now() + mostMs;
    while (this.#open === 0 && !signal.aborted && performance.now() < deadlineMs) await sleep(LOOK_EVERY_MS);
  }

  /** Settles when no page is open any more, and none came back for so long. */
  async left(graceMs: number, signal: AbortSignal): Promise<void> {
    for (let goneMs = 0; goneMs < graceMs && !signal.aborted; goneMs += LOOK_EVERY_MS) {
      await sleep(LOOK_EVERY_MS);
      if (this.#open > 0) goneMs = 0;
    }
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
    answer: Answerer,
  ): Promise<void> {
    try {
      const answered = await answer({
        path: url.pathname.slice(1),
        query: url.searchParams,
        lastEventId: Number(request.headers['last-event-id'] ?? 0) || 0,
        response,
      });
      if (answered === undefined) return refuse(response, 404);
      if (answered === 'streams') return this.#streams(response);
      if ('json' in answered) return send(response, 'application/json', JSON.stringify(answered.json));
      this.#servedMs = performance.now();
      response.setHeader('content-security-policy', answered.policy);
      send(response, 'text/html', answered.html);
    } catch (error) {
      // Files that are gone, or broken: the page says so. Anything else is a bug, which must not end the run that is watched.
      if (!(error instanceof MeshError)) printError(`the page could not be served: ${toErrorMessage(error)}`);
      if (response.headersSent) response.destroy();
      else send(response, 'application/json', JSON.stringify({ error: toErrorMessage(error) }), 500);
    }
  }

  #streams(response: ServerResponse): void {
    this.#open += 1;
    response.on('close', () => {
      this.#open -= 1;
    });
  }
}

/** What of an address follows the token; undefined where the token is another. */
function stripToken(address: string, token: string): URL | undefined {
  const [, given = '', ...rest] = address.split('/');
  if (!isSameSecret(given, token)) return undefined;
  return URL.parse(`http://page/${rest.join('/')}`) ?? undefined;
}

function send(response: ServerResponse, type: string, text: string, status = 200): void {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8` }).end(text);
}

const REFUSALS = {
  403: 'This address needs the token that the command printed, and a loopback name.',
  404: 'There is no such thing here.',
  405: 'This page is read only.',
};

function refuse(response: ServerResponse, status: keyof typeof REFUSALS): void {
  response.setHeader('connection', 'close');
  send(response, 'text/plain', `${REFUSALS[status]}\n`, status);
}

function createPortError(port: number, error: Error): MeshError {
  const how = readSystemCode(error) === 'EADDRINUSE' ? 'it is taken' : error.message;
  return new MeshError('usage', `cannot serve the page on port ${port} of ${HOST}: ${how}`, { cause: error });
}
