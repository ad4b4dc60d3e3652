import { MeshError, messageOf } from '../../../../core/contracts/errors.ts';
import { shortReason } from '../../../../core/contracts/packet.ts';
import { boundedBody } from '../../http/bounded-fetch.ts';
import { eventsOf } from '../../http/event-stream.ts';
import { HttpClient, type HttpRequest } from '../../http/http-client.ts';
import { bodyOf } from '../../http/http-server.ts';
import type { HttpDialect, Operation } from '../bare/http-client.ts';
import type { AgentWire } from './agent-wire.ts';

const SETTINGS = { tls: null, connections: 4, keepAliveMs: 5_000, noDelay: true };

interface HttpWireOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly maxMessageBytes: number;
}

/** JSON-RPC or REST, at the URL of an interface. */
export class HttpWire implements AgentWire {
  readonly #dialect: HttpDialect;
  readonly #http: HttpClient;
  readonly #root: string;
  readonly #options: HttpWireOptions;

  constructor(dialect: HttpDialect, { origin, pathname }: URL, options: HttpWireOptions) {
    this.#dialect = dialect;
    this.#http = foreignHttp(origin);
    this.#root = pathname.replace(/\/$/, '');
    this.#options = options;
  }

  async call(operation: Operation, signal: AbortSignal): Promise<unknown> {
    const response = await this.#http.open(this.#requestOf(operation, signal));
    const text = await bodyOf(response, this.#options.maxMessageBytes).catch((cause: unknown) => {
      if (cause instanceof MeshError) throw cause;
      throw new MeshError('agent', `A2A: ${operation.method}: ${shortReason(messageOf(cause))}`, { cause });
    });
    return this.#dialect.result(operation, { status: response.statusCode ?? 0, text: text.toString() });
  }

  async *events(operation: Operation, signal: AbortSignal) {
    const response = await this.#http.open(this.#requestOf(operation, signal));
    const status = response.statusCode ?? 0;
    const { maxMessageBytes } = this.#options;
    if (response.headers['content-type']?.startsWith('text/event-stream') !== true) {
      const text = (await bodyOf(response, maxMessageBytes)).toString();
      yield this.#dialect.result(operation, { status, text });
      return;
    }
    const body = boundedBody(response, maxMessageBytes);
    for await (const text of eventsOf(body)) yield this.#dialect.result(operation, { status, text });
  }

  close(): void {
    this.#http.close();
  }

  #requestOf(operation: Operation, signal: AbortSignal): HttpRequest {
    const { method, path, body } = this.#dialect.request(operation);
    const headers = {
      'A2A-Version': '1.0',
      ...this.#options.headers,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    };
    return { method, path: `${this.#root}${path}` || '/', headers, body, signal };
  }
}

/** A client of HTTP for somebody else's server. */
export function foreignHttp(origin: string): HttpClient {
  return new HttpClient(origin, SETTINGS);
}
