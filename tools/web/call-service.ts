import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { readBytes } from '@gaia-mesh/core/system/limit-bytes.ts';
import { joinUrl } from '@gaia-mesh/core/system/outgoing-url.ts';
import type PQueue from 'p-queue';
import * as z from 'zod';
import type { DataToolContext } from '../data-tool.ts';
import { readErrorWords } from '../http/error-words.ts';
import { findConnectionFault } from '../http/fetch.ts';
import { requestService, ServiceRefusal } from '../http/service.ts';
import { tooLarge } from './bounded-body.ts';
import { isMoved, resolveServiceUrl, SERVICES, type ServiceName } from './services.ts';

type ServiceContext = Pick<DataToolContext, 'environment' | 'options' | 'signal'>;

export interface ServiceCall {
  readonly service: ServiceName;
  /** The path below the base URL. */
  readonly path: string;
  /** Replaces the service's own base URL if that depends on the call. */
  readonly baseUrl?: string | undefined;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: object;
  readonly form?: URLSearchParams | FormData;
  /** Statuses that are replies and not failures. */
  readonly accepts?: readonly number[];
  /** The time limit of one attempt; watching a video takes minutes. The team file's `timeout_ms` takes precedence. */
  readonly timeoutMs?: number;
}

interface ServiceReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /**
   * Parses and checks its JSON.
   *
   * @throws MeshError `tool`, naming the fields that are wrong
   */
  parse<Result>(schema: z.ZodType<Result>): Result;
}

/** Time limit of one attempt, from the request to the end of the reply's head. */
const ATTEMPT_TIMEOUT_MS = 30_000;
/** Time limit of all attempts and the body, as a multiple of one attempt; it includes the pauses. */
const TOTAL_ATTEMPTS = 4;

/** Retries after transport errors (C-07). */
const MAX_RETRIES = 5;

/** Maximum bytes of a reply, far above any search result or transcript. */
const MAX_REPLY_BYTES = 8 * 1024 * 1024;

/** Concurrent requests to one host if the table of services does not say. */
const CONCURRENCY = 4;
/** Maximum calls that wait for one host. An agent works on 256 packets at most, so a longer queue is an error. */
const MAX_WAITING = 256;
/** Maximum hosts with a queue; beyond it, idle ones are dropped. */
const MAX_QUEUES = 64;

const queues = new Map<string, PQueue>();

const settings = z.looseObject({
  timeout_ms: z.int().positive().max(3_600_000).optional(),
  retries: z.int().nonnegative().max(20).optional(),
});

/**
 * Calls a service and retries after 429, 5xx and broken connections, with growing pauses or those that it asks for. The text of
 * its reply is bounded. The team file may set `timeout_ms` and `retries` (`options`).
 *
 * @throws MeshError `tool`: `no network: …`, the service's status and message, or that it did not answer; never with a key in it
 */
export function callService(call: ServiceCall, context: ServiceContext): Promise<ServiceReply> {
  return withService(call, context, async (response) => {
    const error = tooLarge(`the reply of ${call.service}`, MAX_REPLY_BYTES);
    const bytes = await readBytes(response.body, MAX_REPLY_BYTES, error);
    const text = new TextDecoder().decode(bytes);
    return {
      status: response.status,
      headers: response.headers,
      text,
      parse(schema) {
        const { success, data, error: fault } = schema.safeParse(tryParseJson(text));
        if (success) return data;
        throw new MeshError('tool', `${call.service} sent an undocumented reply: ${formatIssues(fault)}`);
      },
    };
  });
}

/** Does the same as {@link callService} for replies that are files: `use` reads the body within the same time limit. */
export async function withService<Result>(
  call: ServiceCall,
  context: ServiceContext,
  use: (response: Response) => Promise<Result>,
): Promise<Result> {
  const { environment } = context;
  const base = call.baseUrl ?? resolveServiceUrl(call.service, environment);
  const url = joinUrl(base, call.path);
  for (const [name, value] of Object.entries(call.query ?? {})) url.searchParams.append(name, String(value));
  const parsed = settings.safeParse(context.options);
  if (!parsed.success) throw new MeshError('tool', `options: ${formatIssues(parsed.error)}`);
  const timeoutMs = parsed.data.timeout_ms ?? call.timeoutMs ?? ATTEMPT_TIMEOUT_MS;
  const json = call.json === undefined ? undefined : JSON.stringify(call.json);
  const request = {
    url,
    headers: {
      'user-agent': formatUserAgent(environment),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...call.headers,
    },
    body: json ?? call.form,
    accepts: call.accepts,
    timeoutMs,
    maxRetries: parsed.data.retries ?? MAX_RETRIES,
  };
  const finished = new AbortController();
  const queue = await findServiceQueue(call, url.origin, context);
  if (queue.size >= MAX_WAITING)
    throw new MeshError('tool', `${call.service}: ${MAX_WAITING} calls are already waiting`);
  try {
    return await queue.add(
      async () => {
        // The time limit begins when the call leaves the queue.
        const total = AbortSignal.timeout(timeoutMs * TOTAL_ATTEMPTS);
        const signal = AbortSignal.any([context.signal, total, finished.signal]);
        return use(await requestService(request, signal));
      },
      { signal: context.signal },
    );
  } catch (error) {
    throw explainServiceFault(error, call.service, url.origin, context);
  } finally {
    // A reader may stop before the end, which would keep the connection open.
    finished.abort();
  }
}

/** Formats the user agent: services ask for a name and a contact, which the user sets. */
function formatUserAgent(environment: ServiceContext['environment']): string {
  const contact = environment.GAIA_MESH_CONTACT;
  return `gaia-mesh (${contact === undefined || contact === '' ? 'a benchmark of agents' : contact})`;
}

async function findServiceQueue(
  { service: name }: ServiceCall,
  origin: string,
  { environment }: ServiceContext,
): Promise<PQueue> {
  const known = queues.get(origin);
  if (known !== undefined) return known;
  const { default: Queue } = await import('p-queue');
  const { gapMs, concurrency = CONCURRENCY } = SERVICES[name];
  // The pause is one of the public service's terms, which do not apply to the user's own server.
  const gap =
    gapMs === undefined || isMoved(name, environment)
      ? {}
      : { interval: gapMs, intervalCap: 1, strict: true };
  if (queues.size >= MAX_QUEUES) {
    for (const [host, { size, pending }] of queues) if (size + pending === 0) queues.delete(host);
  }
  const queue = queues.get(origin) ?? new Queue({ concurrency, ...gap });
  queues.set(origin, queue);
  return queue;
}

/**
 * Explains a failed call to the caller, without keys; an error that is none of the expected failures is a bug and is
 * returned as it is.
 */
function explainServiceFault(
  error: unknown,
  name: ServiceName,
  origin: string,
  { environment, signal }: ServiceContext,
): unknown {
  if (error instanceof MeshError) return error;
  // The cause is left out because it holds the request, and the request holds the key.
  const fault = (message: string) =>
    new MeshError('tool', removeSecrets(shortenReason(message), environment));
  if (signal.aborted) return fault(`${name}: stopped, the task has ended`);
  if (!(error instanceof Error)) return error;
  if (error instanceof ServiceRefusal) {
    const { status } = error;
    const said = findErrorText(error.text);
    return fault(
      `${name} answered with status ${status}${said === '' ? '' : `: ${said}`}${adviseStatus(status, name)}`,
    );
  }
  if (error.name === 'TimeoutError') {
    return fault(`${name} at ${origin} did not answer in time: try again later, or set options.timeout_ms`);
  }
  const broken = findConnectionFault(error);
  if (broken === undefined) return error;
  return fault(
    `no network: ${name} at ${origin} cannot be reached (${broken.code}); check the connection, or ${SERVICES[name].variable}`,
  );
}

/** Removes all secrets of the environment from `text`: services repeat keys in their messages. */
function removeSecrets(text: string, environment: ServiceContext['environment']): string {
  let clean = text;
  for (const [variable, value] of Object.entries(environment)) {
    // Shorter values are not keys, and replacing them would damage words.
    const isSecret =
      /(KEY|TOKEN|SECRET|PASSWORD)$/.test(variable) && value !== undefined && value.length >= 6;
    if (isSecret) clean = clean.replaceAll(value, `[${variable}]`);
  }
  return clean;
}

function adviseStatus(status: number, name: ServiceName): string {
  const { keys } = SERVICES[name];
  if ((status === 401 || status === 403) && keys !== undefined) return ` (check ${keys.join(' or ')})`;
  if (status === 429) return ' (too many requests: try again later, or use another tool)';
  return status >= 500 ? ' (the service is out of order: try again later, or use another tool)' : '';
}

/** Returns the message in the body of a failure; a page of HTML and unknown JSON have none. */
function findErrorText(text: string): string {
  const said = readErrorWords(text)?.message;
  if (said !== undefined) return said.trim();
  return tryParseJson(text) !== undefined || text.includes('<') ? '' : text.trim().slice(0, 300);
}
