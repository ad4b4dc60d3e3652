import type { Operation } from '../bare/http-client.ts';
import { GrpcConnection, type GrpcConnectionSettings, only } from '../grpc/connection.ts';
import { methods } from '../grpc/messages.ts';
import type { AgentWire } from './agent-wire.ts';

const SETTINGS = { keepAliveMs: 5_000, noDelay: true };

/** gRPC, of which an answer to a stream is a stream. */
export class GrpcWire implements AgentWire {
  readonly #connection: GrpcConnection;

  private constructor(connection: GrpcConnection) {
    this.#connection = connection;
  }

  /** @throws MeshError `agent` where nobody answers */
  static async connect(
    { origin }: URL,
    settings: Pick<GrpcConnectionSettings, 'headers' | 'maxBytes'>,
    signal: AbortSignal,
  ): Promise<GrpcWire> {
    const connection = new GrpcConnection(origin, { ...SETTINGS, ...settings });
    await connection.opened(signal);
    return new GrpcWire(connection);
  }

  call(operation: Operation, signal: AbortSignal): Promise<unknown> {
    return only(this.events(operation, signal));
  }

  events({ method, params }: Operation, signal: AbortSignal): AsyncIterable<object> {
    const forms = methods[method];
    if (forms === undefined) throw new Error(`A2A has no method ${method}`);
    const [request, answer] = forms;
    return this.#connection.call(method, request.encode(params), answer, signal);
  }

  close(): void {
    this.#connection.close();
  }
}

/**
 * Where a card says that its gRPC is: `host:port`, or a URL. Where it does not say whether by TLS, it is as the card came; a card that came by
 * TLS does not lead to where there is none.
 *
 * @returns undefined for what is no such place
 */
export function grpcPlace(text: string, cardUrl: URL): URL | undefined {
  const [, scheme = '', authority = ''] =
    /^(?:(?:(https?|grpcs?):\/\/)|(?:dns:(?:\/\/\/)?))?([^/]+)\/?$/i.exec(text) ?? [];
  const isSecure = cardUrl.protocol === 'https:';
  const saysTls = /^(?:https|grpcs)$/i.test(scheme);
  if (isSecure && /^http$/i.test(scheme)) return undefined;
  return URL.parse(`${isSecure || saysTls ? 'https' : 'http'}://${authority}`) ?? undefined;
}
