import { once } from 'node:events';
import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { MeshError, toErrorMessage as textOf } from '@gaia-mesh/core/contracts/errors.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { limitBody } from '../../http/bounded-fetch.ts';
import type { AgentWire, Operation } from '../bare/agent-wire.ts';
import { frameMessage, readMessages } from './frames.ts';
import { methods, SERVICE_PATH } from './messages.ts';

interface GrpcConnectionSettings {
  /** Headers in addition to those that gRPC and A2A need. */
  readonly headers: Readonly<Record<string, string>>;
  /** Maximum bytes of a call's answer. */
  readonly maxBytes: number;
}

/** Time after which an idle connection is closed. */
const KEEP_ALIVE_MS = 5_000;

/** Calls of A2A's gRPC service on one connection of Node's own HTTP/2, which is dialled again after it has ended. */
export class GrpcConnection implements AgentWire {
  readonly #url: URL;
  readonly #settings: GrpcConnectionSettings;
  #session: ClientHttp2Session | undefined;

  /** @param url with the scheme http, or https for TLS */
  constructor(url: string, settings: GrpcConnectionSettings) {
    this.#url = new URL(url);
    this.#settings = settings;
  }

  /**
   * Resolves when the connection is open.
   *
   * @throws MeshError `agent` if no server answers
   */
  async opened(signal: AbortSignal): Promise<void> {
    const session = this.#ready();
    try {
      // The server's settings come before any request.
      await Promise.race([once(session, 'remoteSettings', { signal }), once(session, 'close', { signal })]);
    } catch (cause) {
      session.destroy();
      throw new MeshError('agent', `A2A: ${this.#url.host}: ${textOf(cause)}`, { cause });
    }
    if (session.destroyed) throw new MeshError('agent', `A2A: no server answers at ${this.#url.host}`);
  }

  close(): void {
    this.#session?.destroy();
  }

  /** Returns the only message of a call that is not a stream; the status is read as well. */
  async call(operation: Operation, signal: AbortSignal): Promise<object> {
    const all: object[] = [];
    for await (const each of this.events(operation, signal)) all.push(each);
    const [message] = all;
    if (message === undefined || all.length > 1)
      throw new MeshError('packet', `A2A: expected one gRPC answer, received ${all.length}`);
    return message;
  }

  /**
   * Yields the messages of a call's answer, and checks its status at the end.
   *
   * @throws MeshError `agent` for a connection that failed or a signal that aborted, `packet` for a status
   * that is an error
   */
  async *events({ method, params }: Operation, signal: AbortSignal) {
    const forms = methods[method];
    if (forms === undefined) throw new Error(`A2A has no method ${method}`);
    const [request, answer] = forms;
    const stream = await this.#open(method, signal);
    let status: http2.IncomingHttpHeaders = {};
    stream.once('response', (head) => {
      if (head['grpc-status'] !== undefined) status = head;
    });
    stream.once('trailers', (tail) => {
      status = tail;
    });
    stream.end(frameMessage(request.encode(params)));
    try {
      const { maxBytes } = this.#settings;
      const body = limitBody(stream, maxBytes);
      for await (const message of readMessages(body, maxBytes)) yield answer.decode(message);
      // The trailers come behind the last byte.
      if (!stream.closed) await once(stream, 'close');
    } catch (cause) {
      if (cause instanceof MeshError) throw cause;
      throw new MeshError('agent', `A2A: ${method}: ${textOf(signal.aborted ? signal.reason : cause)}`, {
        cause,
      });
    } finally {
      if (!stream.closed) stream.close(http2.constants.NGHTTP2_CANCEL);
    }
    const code = status['grpc-status'];
    if (code === '0') return;
    throw new MeshError(
      'packet',
      `A2A: ${method} was refused (${code}): ${shortenReason(readStatusReason(status))}`,
    );
  }

  async #open(method: string, signal: AbortSignal): Promise<ClientHttp2Stream> {
    signal.throwIfAborted();
    const session = this.#ready();
    const head = {
      ...this.#settings.headers,
      ':method': 'POST',
      ':path': `${SERVICE_PATH}${method}`,
      'content-type': 'application/grpc+proto',
      te: 'trailers',
      'a2a-version': '1.0',
    };
    try {
      return session.request(head, { signal });
    } catch (cause) {
      throw new MeshError('agent', `A2A: ${this.#url.host}: ${textOf(cause)}`, { cause });
    }
  }

  #ready(): ClientHttp2Session {
    const known = this.#session;
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    const session = http2.connect(this.#url, { createConnection: () => this.#dial() });
    // Every call of the session learns of its end by itself.
    session.on('error', () => session.destroy());
    session.setTimeout(KEEP_ALIVE_MS, () => session.close());
    this.#session = session;
    return session;
  }

  #dial(): net.Socket {
    const { protocol, hostname, port } = this.#url;
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    if (protocol === 'http:') return net.connect({ host, port: Number(port || 80) });
    return tls.connect({
      host,
      port: Number(port || 443),
      ALPNProtocols: ['h2'],
      servername: net.isIP(host) === 0 ? host : undefined,
    });
  }
}

function readStatusReason(status: http2.IncomingHttpHeaders): string {
  return decodeStatusText(String(status['grpc-message'] ?? 'no status was received'));
}

/** Decodes an error text of `grpc-message`, in which bytes are escaped as `%41`. Anything that is no escape stays as it is. */
function decodeStatusText(text: string): string {
  const bytes = text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
