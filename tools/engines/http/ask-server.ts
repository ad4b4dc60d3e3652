import type * as z from 'zod';
import { type ModelCapabilities, UNKNOWN_ABILITIES } from '../capabilities.ts';
import type { ModelFormat } from '../model-format.ts';
import { describeServer } from '../requests/model-endpoint.ts';
import { type Environment, findServerKey, resolveServerUrl, type ServerKind } from '../server-kind.ts';
import { readWholeJson } from './body.ts';
import { exchange } from './exchange.ts';
import { explain } from './fault.ts';

/** Time limit of a query: it takes a server no time, but one that works on a prompt may be late. */
const ASK_TIMEOUT_MS = 5_000;

interface CapabilitySubject {
  readonly host: string | undefined;
  readonly model: string;
  readonly environment: Environment;
}

/**
 * Asks a server what it says about a model; servers of one kind differ in what they report.
 *
 * @throws MeshError `engine` if there is no server, or if it refuses the key
 */
export async function querySaid(
  kind: ServerKind,
  format: ModelFormat,
  { host, model, environment }: CapabilitySubject,
): Promise<ModelCapabilities> {
  const url = resolveServerUrl(kind, host, environment);
  const key = findServerKey(kind, url, environment);
  const server = describeServer(kind, format, { url, key });
  const limits = { signal: new AbortController().signal, timeoutMs: ASK_TIMEOUT_MS };

  async function ask<Reply>(at: URL, schema: z.ZodType<Reply>, body?: object): Promise<Reply | undefined> {
    const request = {
      url: at,
      headers: { Accept: 'application/json', ...format.buildHeaders?.(key) },
      body: body === undefined ? undefined : JSON.stringify(body),
    };
    const outcome = await exchange(server, request, limits, async (response) =>
      schema.parse(await readWholeJson(response)),
    );
    if (outcome.fault === undefined) return outcome.value;
    const { fault } = outcome;
    // A server that refuses the key would refuse every question, too.
    if (fault.kind === 'status' && (fault.status === 401 || fault.status === 403))
      throw explain(fault, server, undefined, 1);
    // The server is there but does not report it.
    if (fault.kind === 'status' || fault.kind === 'foreign' || fault.kind === 'broken') return undefined;
    throw explain(fault, server, undefined, 1);
  }

  return {
    ...UNKNOWN_ABILITIES,
    model,
    url,
    others: [],
    ...(await format.queryCapabilities({ url, model, ask })),
  };
}
