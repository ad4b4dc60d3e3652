import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { limitBody } from '../../http/bounded-fetch.ts';
import { readEvents } from '../../http/event-stream.ts';
import type { HttpClient, HttpRequest } from '../../http/http-client.ts';
import { readBody } from '../../http/http-server.ts';
import type { AgentWire, Operation } from './agent-wire.ts';
import type { HttpDialect } from './dialects.ts';

interface HttpWireOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Maximum bytes of an answer, and of all events of a stream together. */
  readonly maxBytes?: number;
}

/** Calls an agent by JSON-RPC or REST, at the URL of an interface. */
export class HttpWire implements AgentWire {
  readonly #dialect: HttpDialect;
  readonly #http: HttpClient;
  readonly #root: string;
  readonly #options: HttpWireOptions;

  /** @param root path of the interface's URL */
  constructor(dialect: HttpDialect, http: HttpClient, root: string, options: HttpWireOptions = {}) {
    this.#dialect = dialect;
    this.#http = http;
    this.#root = root.replace(/\/$/, '');
    this.#options = options;
  }

  async call(operation: Operation, signal: AbortSignal): Promise<unknown> {
    const response = await this.#http.open(this.#requestOf(operation, signal));
    const text = await readBody(response, this.#options.maxBytes).catch((cause: unknown) => {
      if (cause instanceof MeshError) throw cause;
      throw new MeshError('agent', `A2A: ${operation.method}: ${shortenReason(toErrorMessage(cause))}`, {
        cause,
      });
    });
    return this.#dialect.result(operation, { status: response.statusCode ?? 0, text: text.toString() });
  }

  async *events(operation: Operation, signal: AbortSignal) {
    const response = await this.#http.open(this.#requestOf(operation, signal));
    const status = response.statusCode ?? 0;
    const { maxBytes } = this.#options;
    if (response.headers['content-type']?.startsWith('text/event-stream') !== true) {
      const text = (await readBody(response, maxBytes)).toString();
      yield this.#dialect.result(operation, { status, text });
      return;
    }
    const body = maxBytes === undefined ? response : limitBody(response, maxBytes);
    for await (const text of readEvents(body)) yield this.#dialect.result(operation, { status, text });
  }

  close(): void {
    this.#http.close();
  }

  #requestOf(operation: Operation, signal: AbortSignal): HttpRequest {
    const { method, path, body } = this.#dialect.request(operation);
    const headers: Record<string, string> = { 'A2A-Version': '1.0', ...this.#options.headers };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    return { method, path: `${this.#root}${path}` || '/', headers, body, signal };
  }
}
