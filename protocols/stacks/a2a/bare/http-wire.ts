import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { parseExactJson } from '@gaia-mesh/core/system/parse-json.ts';
import * as z from 'zod';
import { readEvents } from '../../http/event-stream.ts';
import type { HttpClient, HttpRequest } from '../../http/http-client.ts';
import { readBody } from '../../http/http-server.ts';
import type { AgentInterface } from '../card.ts';
import { parseAnswer } from '../model.ts';
import { legacy } from './legacy.ts';

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
    http: HttpClient,
    root: string,
    dialect: HttpDialect = jsonRpcDialect,
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
    return this.#read(operation, { status: response.statusCode ?? 0, text: text.toString() });
  }

  /** Yields the events for a streamed message; an agent that does not stream answers once. */
  async *events(operation: Operation, signal: AbortSignal) {
    const response = await this.#open(operation, signal);
    const status = response.statusCode ?? 0;
    const maxBytes = this.#maxBytes;
    if (response.headers['content-type']?.startsWith('text/event-stream') !== true) {
      const text = (await readBody(response, maxBytes)).toString();
      yield this.#read(operation, { status, text });
      return;
    }
    for await (const { data: text } of readEvents(response, maxBytes))
      yield this.#read(operation, { status, text });
  }

  close(): void {
    this.#http.close();
  }

  /** Reads an answer. A proxy, or a gateway that wants a token, refuses in its own words, which the error repeats. */
  #read(operation: Operation, answer: Parameters<HttpDialect['result']>[1]): unknown {
    const { status, text } = answer;
    if (status < 400 || /"(?:jsonrpc|message)"/.test(text)) return this.#dialect.result(operation, answer);
    const said = text.trim() === '' ? '' : `: ${shortenReason(text.trim())}`;
    throw new MeshError('packet', `A2A: ${operation.method}: expected 200, received ${status}${said}`);
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
    // A request without a path uses the interface's URL unchanged.
    const [below, query] = (path === '' ? this.#root : `${this.#root.replace(/\/$/, '')}${path}`).split(
      '?',
      2,
    );
    const queries = [this.#query, query].filter(Boolean).join('&');
    return { method, path: `${below || '/'}${queries === '' ? '' : `?${queries}`}`, headers, body, signal };
  }
}

export type Operation =
  | { readonly method: 'SendMessage' | 'SendStreamingMessage'; readonly params: object }
  | {
      readonly method: 'GetTask' | 'CancelTask';
      readonly params: { readonly id: string };
    };

/** Requests and answers of one of the two HTTP transports. */
interface HttpDialect {
  readonly protocolBinding: AgentInterface['protocolBinding'];
  readonly version: '1.0' | '0.3';
  /** Returns the request for an operation, below the interface's URL. */
  request(operation: Operation): Omit<HttpRequest, 'signal'>;
  /** Returns the result in an answer. @throws MeshError `packet` for an error of the protocol, or an invalid answer */
  result(operation: Operation, answer: { readonly status: number; readonly text: string }): unknown;
}

const answerSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.unknown(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});

/**
 * JSON-RPC (§9): one URL, and an envelope around parameters and results. An answer comes on its own request,
 * so any id will do.
 */
const jsonRpcDialect: HttpDialect = {
  protocolBinding: 'JSONRPC',
  version: '1.0',
  request: ({ method, params }) => ({
    method: 'POST',
    path: '',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  }),
  result: (_operation, { text }) => {
    const { result, error } = parseAnswer(answerSchema, parseJsonBody(text), 'JSON-RPC answer');
    if (error !== undefined && error !== null) throw toMeshError(error);
    return result;
  },
};

/** JSON-RPC of A2A 0.3, whose answers `foreign/agent-reply.ts` reads. The SDK's client for it bounds no answer. */
const legacyDialect: HttpDialect = {
  ...jsonRpcDialect,
  version: '0.3',
  request: (operation) => ({
    method: 'POST',
    path: '',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...legacy.writeRequest(operation) }),
  }),
};

const problemSchema = z.object({ error: z.unknown() });

/** HTTP+JSON (§11): a URL for each operation. */
const restDialect: HttpDialect = {
  protocolBinding: 'HTTP+JSON',
  version: '1.0',
  request: ({ method, params }) => {
    switch (method) {
      case 'SendMessage':
        return { method: 'POST', path: '/message:send', body: JSON.stringify(params) };
      case 'SendStreamingMessage':
        return { method: 'POST', path: '/message:stream', body: JSON.stringify(params) };
      case 'GetTask': {
        const { id, ...rest } = params;
        const query = new URLSearchParams();
        for (const [name, value] of Object.entries(rest)) query.set(name, String(value));
        return {
          method: 'GET',
          path: `/tasks/${encodeURIComponent(id)}${query.size > 0 ? `?${query}` : ''}`,
        };
      }
      case 'CancelTask':
        return { method: 'POST', path: `/tasks/${encodeURIComponent(params.id)}:cancel`, body: '{}' };
    }
  },
  result: ({ method }, { status, text }) => {
    const value = parseJsonBody(text);
    const problem = problemSchema.safeParse(value);
    if (problem.success && problem.data.error !== undefined) throw toMeshError(problem.data.error);
    if (status !== 200) throw new MeshError('packet', `A2A: ${method}: expected 200, received ${status}`);
    return value;
  },
};

const errorSchema = z.looseObject({ message: z.string() });

/** Converts an error that the other side wrote. */
function toMeshError(error: unknown): MeshError {
  const { message } = errorSchema.catch({ message: 'an error without a message' }).parse(error);
  return new MeshError('packet', `A2A: refused: ${shortenReason(message)}`);
}

/** @throws MeshError `packet` for a text that is not JSON */
export function parseJsonBody(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (cause) {
    throw new MeshError('packet', `A2A: expected JSON, received ${JSON.stringify(text.slice(0, 80))}`, {
      cause,
    });
  }
}

/** Returns the dialect of a card's interface; undefined for one that is not spoken here. */
export function findDialect(binding: string, version: string): HttpDialect | undefined {
  const isLegacy = version !== '' && legacy.isVersion(version);
  if (!isLegacy && !/^1(\.|$)/.test(version)) return undefined;
  const known = isLegacy ? [legacyDialect] : [jsonRpcDialect, restDialect];
  return known.find(({ protocolBinding }) => protocolBinding === binding);
}
