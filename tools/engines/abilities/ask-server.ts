import * as z from 'zod';
import { exchange } from '../http/exchange.ts';
import { explain } from '../http/fault.ts';
import type { ModelServer } from '../servers/model-client.ts';

/** Time limit of a query: it takes a server no time, but one that works on a prompt may be late. */
const ASK_TIMEOUT_MS = 5_000;

/** A request to a server besides its chats. */
interface ServerQuestion {
  readonly url: URL;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Returns a server's reply, or undefined if it has none in this form: servers of one kind differ in what they report.
 *
 * @throws MeshError `engine` if there is no server, or if it refuses the key
 */
export async function askServer<Reply>(
  server: ModelServer,
  { url, body, headers = {} }: ServerQuestion,
  schema: z.ZodType<Reply>,
): Promise<Reply | undefined> {
  const limits = { signal: new AbortController().signal, timeoutMs: ASK_TIMEOUT_MS };
  const outcome = await exchange(server, limits, async (fetch) => {
    const response = await fetch(url, {
      headers: { Accept: 'application/json', 'Content-Type': 'application/json', ...headers },
      method: body === undefined ? 'GET' : 'POST',
      body: body === undefined ? null : JSON.stringify(body),
    });
    return schema.parse(await response.json());
  });
  if (outcome.fault === undefined) return outcome.value;
  const { fault } = outcome;
  // A server that refuses the key would refuse every question, too.
  if (fault.kind === 'status' && (fault.status === 401 || fault.status === 403))
    throw explain(fault, server, undefined, 1);
  // The server is there but does not report it.
  if (fault.kind === 'status' || fault.kind === 'foreign' || fault.kind === 'broken') return undefined;
  throw explain(fault, server, undefined, 1);
}

export const optionalNumber = z.int().positive().nullish().catch(undefined);
export const optionalBoolean = z.boolean().nullish().catch(undefined);
