import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { messageOf } from '../../../../core/contracts/errors.ts';
import { writeEvents, writeLast } from '../../http/event-stream.ts';
import { bodyOf, writeJson } from '../../http/http-server.ts';
import type { A2aAgent } from '../agent/agent.ts';
import { errorInfoOf, faultError, faultOf } from '../agent/faults.ts';
import { checkContentType, checkVersion, parsed } from './http-requests.ts';

const requestSchema = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]),
  method: z.string(),
  params: z.unknown().optional(),
});
type Id = z.infer<typeof requestSchema>['id'];

const STREAMS: ReadonlySet<string> = new Set(['SendStreamingMessage', 'SubscribeToTask']);

/** The JSON-RPC binding of A2A (§9): one path, one POST a request. */
export async function serveJsonRpc(
  agent: A2aAgent,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let id: Id = null;
  try {
    if (request.method !== 'POST')
      throw faultError('invalidRequest', `expected POST, came ${request.method}`);
    const body = await bodyOf(request, agent.maxBodyBytes);
    checkContentType(request);
    const value = parsed(body);
    const { success, data } = requestSchema.safeParse(value);
    if (!success) throw faultError('invalidRequest', 'expected jsonrpc 2.0 with an id and a method');
    id = data.id;
    checkVersion(request.headers['a2a-version']);
    if (STREAMS.has(data.method)) {
      const events = agent.stream(data.method, data.params);
      await writeEvents(response, answersOf(events, data.id));
      return;
    }
    const result = await agent.call(data.method, data.params);
    writeJson(response, 200, JSON.stringify({ jsonrpc: '2.0', id, result }));
  } catch (error) {
    const fault = faultOf(error);
    const failure = { code: fault.jsonRpcCode, message: messageOf(error), data: errorInfoOf(fault) };
    const text = JSON.stringify({ jsonrpc: '2.0', id, error: failure });
    writeLast(response, 200, text);
  }
}

async function* answersOf(results: AsyncIterable<object>, id: Id) {
  for await (const result of results) yield JSON.stringify({ jsonrpc: '2.0', id, result });
}
