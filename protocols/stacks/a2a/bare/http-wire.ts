import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { limitBody } from '../../http/bounded-fetch.ts';
import { readEvents } from '../../http/event-stream.ts';
import type { HttpClient, HttpRequest } from '../../http/http-client.ts';
import { readBody } from '../../http/http-server.ts';
import type { HttpDialect, Operation } from './dialects.ts';

/**
 * Calls an agent by JSON-RPC or REST, at the URL of an interface; parameters and results are those of A2A's JSON.
 */
export class HttpWire {
  readonly #dialect: HttpDialect;
  readonly #http: HttpClient;
  readonly #root: string;
  readonly #query: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #maxBytes: number | undefined;

  /**
   * @param root path and query of the interface's URL
   * @param maxBytes maximum bytes of an answer, and of all events of a stream together
   */
  constructor(
    dialect: HttpDialect,
    http: HttpClient,
    root: string,
    headers: Readonly<Record<string, string>> = {},
    maxBytes?: number,
  ) {
    this.#dialect = dialect;
    this.#http = http;
    const [below = '', query = ''] = root.split('?', 2);
    this.#root = below;
    this.#query = query;
    this.#headers = headers;
    this.#maxBytes = maxBytes;
  }

  /**
   * @throws MeshError `agent` for an agent that went away or a signal that aborted, `packet` for an error of
   * the protocol
   */
  async call(operation: Operation, signal: AbortSignal): Promise<unknown> {
    const response = await this.#open(operation, signal);
    const text = await readBody(response, this.#maxBytes).catch((cause: unknown) => {
      if (cause instanceof MeshError) throw cause;
      throw new MeshError('agent', `A2A: ${operation.method}: ${shortenReason(toErrorMessage(cause))}`, {
        cause,
      });
    });
    return this.#dialect.result(operation, { status: response.statusCode ?? 0, text: text.toString() });
  }

  /** Yields the events for a streamed message; an agent that does not stream answers once. */
  async *events(operation: Operation, signal: AbortSignal) {
    const response = await this.#open(operation, signal);
    const status = response.statusCode ?? 0;
    const maxBytes = this.#maxBytes;
    if (response.headers['content-type']?.startsWith('text/event-stream') !== true) {
      const text = (await readBody(response, maxBytes)).toString();
      yield this.#dialect.result(operation, { status, text });
      return;
    }
    const body = maxBytes === undefined ? response : limitBody(response, maxBytes);
    for await (const { data: text } of readEvents(body))
      yield this.#dialect.result(operation, { status, text });
  }

  close(): void {
    this.#http.close();
  }

  /** @throws MeshError `config` for a redirect, which would lead the message elsewhere */
  async #open(operation: Operation, signal: AbortSignal) {
    const response = await this.#http.open(this.#requestOf(operation, signal));
    const { statusCode = 0, headers } = response;
    if (statusCode < 300 || statusCode > 399) return response;
    response.resume();
    const to = shortenReason(headers.location ?? 'no URL');
    throw new MeshError(
      'config',
      `A2A: ${operation.method}: redirected (${statusCode}) to ${to}: the agent's card should name that URL`,
    );
  }

  #requestOf(operation: Operation, signal: AbortSignal): HttpRequest {
    const { method, path, body } = this.#dialect.request(operation);
    const headers: Record<string, string> = {
      'A2A-Version': this.#dialect.version,
      ...this.#headers,
    };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    // A request to the interface itself goes to its URL as it is.
    const [below, query] = (path === '' ? this.#root : `${this.#root.replace(/\/$/, '')}${path}`).split(
      '?',
      2,
    );
    const queries = [this.#query, query].filter(Boolean).join('&');
    return { method, path: `${below || '/'}${queries === '' ? '' : `?${queries}`}`, headers, body, signal };
  }
}
