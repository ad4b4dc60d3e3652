import * as z from 'zod';
import { MeshError } from '../../../../core/contracts/errors.ts';
import { checked, failureOf, type HttpDialect, jsonOf } from './http-client.ts';

const answerSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.unknown(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});

/** JSON-RPC (§9): one URL, and an envelope around parameters and results. An answer comes on its own request, so any id will do. */
export const jsonRpcDialect: HttpDialect = {
  protocolBinding: 'JSONRPC',
  request: ({ method, params }) => ({
    method: 'POST',
    path: '',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  }),
  result: (_operation, { text }) => {
    const { result, error } = checked(answerSchema, jsonOf(text), 'JSON-RPC answer');
    if (error !== undefined) throw failureOf(error);
    return result;
  },
};

const problemSchema = z.object({ error: z.unknown() });

/** HTTP+JSON (§11): a URL for each operation. */
export const restDialect: HttpDialect = {
  protocolBinding: 'HTTP+JSON',
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
      case 'SubscribeToTask':
        return { method: 'POST', path: `/tasks/${encodeURIComponent(params.id)}:subscribe` };
    }
  },
  result: ({ method }, { status, text }) => {
    const value = jsonOf(text);
    const problem = problemSchema.safeParse(value);
    if (problem.success && problem.data.error !== undefined) throw failureOf(problem.data.error);
    if (status !== 200) throw new MeshError('packet', `A2A: ${method}: expected 200, came ${status}`);
    return value;
  },
};
