import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { parseExactJson } from '@gaia-mesh/core/system/parse-json.ts';
import * as z from 'zod';
import type { HttpRequest } from '../../http/http-client.ts';
import type { AgentInterface } from '../interfaces.ts';
import { parseAnswer } from '../model.ts';
import { legacy } from './legacy.ts';

export type Operation =
  | { readonly method: 'SendMessage' | 'SendStreamingMessage'; readonly params: object }
  | {
      readonly method: 'GetTask' | 'CancelTask';
      readonly params: { readonly id: string };
    };

/** Requests and answers of one of the two HTTP transports. */
export interface HttpDialect {
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
export const jsonRpcDialect: HttpDialect = {
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
