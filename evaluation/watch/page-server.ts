import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError, readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { isSameSecret } from '@gaia-mesh/core/system/same-secret.ts';
import { Admission } from '@gaia-mesh/stacks/listen.ts';
import { printError } from '../terminal/print.ts';

const HOST = '127.0.0.1';
/** Maximum connections of browsers: a few pages with one stream each, and their requests. */
const MAX_CONNECTIONS = 32;
const MAX_HEADER_BYTES = 8 * 1024;
const REQUEST_TIMEOUT_MS = 5_000;
const TOKEN_BYTES = 24;
/** Milliseconds between checks for open pages. */
const LOOK_EVERY_MS = 200;

/** A request, with its path below the token. */
interface PageRequest {
  /** `''` is the page itself. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Number of the last event that a reconnecting page has received. */
  readonly lastEventId: number;
  readonly response: ServerResponse;
}

/** Answers a request; undefined means not found. A value is sent as JSON, a page as HTML. */
type Answer = { readonly json: unknown } | { readonly html: string; readonly policy: string } | 'streams';
type Answerer = (request: PageRequest) => Promise<Answer | undefined> | Answer | undefined;

/** Headers of every response: browsers may not store it, frame it, or read it from another page. */
const HEADERS = {
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/**
 * Serves a page to the browsers of this machine. Any process can connect to a port, and any web page can make a browser do so. The server
 * therefore answers only requests with the token of the address and the loopback's own name, because an attacker could point another name
 * here.
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

  /** @throws MeshError `usage` if the port is taken */
  static async start(port: number, answer: Answerer): Promise<PageServer> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: REQUEST_TIMEOUT_MS });
    server.headersTimeout = REQUEST_TIMEOUT_MS;
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(createPortError(port, error)));
      server.listen(port, HOST, () => resolve());
    });
    const taken = (server.address() as AddressInfo).port;
    const pages = new PageServer(server, `http://${HOST}:${taken}/${token}/`);
    const hosts = new Set([`${HOST}:${taken}`, `localhost:${taken}`]);
    const admission = new Admission({ maxKnown: MAX_CONNECTIONS });
    server.on('connection', (socket) => {
      // The listening socket keeps the process alive; connections do not.
      socket.unref();
      admission.enter(socket);
    });
    server.on('request', (request, response) => {
      for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
      const inside = request.url === undefined ? undefined : stripToken(request.url, token);
      if (!hosts.has(request.headers.host ?? '') || inside === undefined) return refuse(response, 403);
      if (request.method !== 'GET') return refuse(response, 405);
      const exchange = { isWhole: () => request.complete, answer: response };
      if (!admission.admit(request.socket, exchange)) return refuse(response, 503);
      void pages.#serve(request, response, inside, answer);
    });
    return pages;
  }

  /** Lets the process exit while the server is listening. */
  unref(): void {
    this.#server.unref();
  }

  get isWatched(): boolean {
    return this.#open > 0;
  }

  /** Returns true if the page was served within this time, so that its stream may be about to open. */
  isComing(withinMs: number): boolean {
    return performance.now() - this.#servedMs < withinMs;
  }

  /** Waits until a page is open, or until the time is up. */
  async entered(mostMs: number, signal: AbortSignal): Promise<void> {
    const deadlineMs = performance.now() + mostMs;
    while (this.#open === 0 && !signal.aborted && performance.now() < deadlineMs) await sleep(LOOK_EVERY_MS);
  }

  /** Waits until no page is open, and none has come back within the grace period. */
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
      // The page reports missing or broken files. Any other error is a bug, which must not end the watched run.
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

/** Returns the part of an address after the token; undefined if the token is wrong. */
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
  404: 'Not found.',
  405: 'This page is read only.',
  503: 'Too many pages are open: close some.',
};

function refuse(response: ServerResponse, status: keyof typeof REFUSALS): void {
  response.setHeader('connection', 'close');
  send(response, 'text/plain', `${REFUSALS[status]}\n`, status);
}

function createPortError(port: number, error: Error): MeshError {
  const how =
    readSystemCode(error) === 'EADDRINUSE'
      ? 'the port is in use: choose another, or name none for any free one'
      : error.message;
  return new MeshError('io', `cannot serve the page on port ${port} of ${HOST}: ${how}`, { cause: error });
}
