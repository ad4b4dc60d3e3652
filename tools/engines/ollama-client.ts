import { setTimeout as sleep } from 'node:timers/promises';
import { type ChatRequest, Ollama } from 'ollama';
import * as z from 'zod';
import { MeshError, messageOf, systemCodeOf } from '../../core/errors.ts';
import { issuesOf } from '../../core/packet.ts';

const DEFAULT_HOST = '127.0.0.1:11434';

// A busy server is asked again this often. Its queue moves in seconds; a longer wait is better spent by the user.
const MAX_BUSY_RETRIES = 3;
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 10_000;

// Far above any reply that fits a context; a server that never stops must not fill the memory.
const MAX_REPLY_CHARACTERS = 1024 * 1024;
const MAX_ERROR_CHARACTERS = 500;
const CHECK_TIMEOUT_MS = 5_000;

interface ChatLimits {
  readonly signal: AbortSignal;
  /** For one request, from asking to the end of its reply; waiting for a busy server comes on top. */
  readonly timeoutMs: number;
}

/** What a model said, whole, and what the server says that it took. */
export interface ChatReply {
  readonly content: string;
  /** `stop`, or `length` where the model was cut off. */
  readonly doneReason: string;
  /** Prompt and completion. What the server leaves out (as it may for a cached prompt) counts as 0. */
  readonly tokens: number;
}

const replyPart = z.object({
  message: z.object({ content: z.string().default('') }).optional(),
  done: z.boolean().default(false),
  done_reason: z.string().default('stop'),
  prompt_eval_count: z.int().nonnegative().default(0),
  eval_count: z.int().nonnegative().default(0),
});

/**
 * The URL of the server that `host` names: a URL, `host` or `host:port`, as in `OLLAMA_HOST`, which is the default.
 *
 * @throws MeshError `usage` when it names none
 */
export function ollamaUrl(host = process.env.OLLAMA_HOST || DEFAULT_HOST): string {
  const hasScheme = host.includes('://');
  const url = URL.parse(hasScheme ? host : `http://${host.startsWith(':') ? '127.0.0.1' : ''}${host}`);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new MeshError(
      'usage',
      `the Ollama host must be like ${DEFAULT_HOST} or a URL, not ${JSON.stringify(host)}`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new MeshError(
      'usage',
      `the Ollama host ${url.host} must be given without a password: it would be in every log`,
    );
  }
  if (!hasScheme && url.port === '') url.port = '11434';
  // Servers listen on 0.0.0.0, and share the variable with us; not every system can connect to it.
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  return `${url.origin}${url.pathname.replace(/\/$/, '')}`;
}

/**
 * One chat, streamed, so that the server stops working as soon as nobody waits. A busy server is asked again.
 *
 * @throws MeshError `engine`, with what the user can do about it
 */
export async function chat(url: string, request: ChatRequest, limits: ChatLimits): Promise<ChatReply> {
  for (let retries = 0; ; retries++) {
    const reply = await withClient(url, request.model, limits, (client) => readReply(client, request));
    if (!('busy' in reply)) return reply;
    if (retries === MAX_BUSY_RETRIES) {
      throw new MeshError(
        'engine',
        `the Ollama server at ${url} was busy ${retries + 1} times (${reply.busy}): try again later, run fewer tasks at ` +
          'once, or start it with a larger OLLAMA_MAX_QUEUE',
      );
    }
    const backoffMs = Math.min(reply.retryAfterMs ?? FIRST_BACKOFF_MS * 2 ** retries, MAX_BACKOFF_MS);
    await sleep(backoffMs, undefined, { signal: limits.signal }).catch((cause: unknown) => {
      throw stopped(url, cause);
    });
  }
}

/**
 * Is there a server, and what does it have?
 *
 * @throws MeshError `engine` when there is none, with how to start it
 */
export async function checkOllama(host?: string): Promise<{ version: string; models: string[] }> {
  const url = ollamaUrl(host);
  const limits = { signal: new AbortController().signal, timeoutMs: CHECK_TIMEOUT_MS };
  const found = await withClient(url, undefined, limits, async (client) => {
    const { version } = z.object({ version: z.string() }).parse(await client.version());
    const { models } = z
      .object({ models: z.array(z.object({ name: z.string() })) })
      .parse(await client.list());
    return { version, models: models.map(({ name }) => name) };
  });
  if ('busy' in found) {
    throw new MeshError('engine', `the Ollama server at ${url} is busy (${found.busy}): try again later`);
  }
  return found;
}

interface Busy {
  readonly busy: string;
  readonly retryAfterMs: number | undefined;
}

/** Work with the server under the limits. Whatever goes wrong becomes a MeshError, or `Busy`, which is worth a retry. */
async function withClient<Result>(
  url: string,
  model: string | undefined,
  limits: ChatLimits,
  work: (client: Ollama) => Promise<Result>,
): Promise<Result | Busy> {
  const timeout = AbortSignal.timeout(limits.timeoutMs);
  const finished = new AbortController();
  const signal = AbortSignal.any([limits.signal, timeout, finished.signal]);
  let refusal: Response | undefined;
  const client = new Ollama({
    host: url,
    fetch: async (input, init) => {
      const response = await fetch(input, { ...init, signal });
      if (response.ok) return response;
      refusal = await asJson(response);
      return refusal;
    },
  });
  try {
    return await work(client);
  } catch (error) {
    if (limits.signal.aborted) throw stopped(url, error);
    if (timeout.aborted) {
      throw new MeshError(
        'engine',
        `the Ollama server at ${url} did not finish within ${limits.timeoutMs / 1000} s: allow more time (timeoutMs of the ` +
          'engine), or take a smaller model',
        { cause: error },
      );
    }
    if (refusal?.status === 503 || refusal?.status === 429) {
      return { busy: `HTTP ${refusal.status}: ${messageOf(error)}`, retryAfterMs: retryAfterMsOf(refusal) };
    }
    throw explain(error, url, model, refusal?.status);
  } finally {
    // The client stops reading at `done`; what may come after it would hold the connection.
    finished.abort();
  }
}

async function readReply(client: Ollama, request: ChatRequest): Promise<ChatReply> {
  let content = '';
  for await (const received of await client.chat({ ...request, stream: true })) {
    const part = replyPart.parse(received);
    content += part.message?.content ?? '';
    if (content.length > MAX_REPLY_CHARACTERS)
      throw new Error(`more than ${MAX_REPLY_CHARACTERS} characters`);
    if (part.done) {
      return { content, doneReason: part.done_reason, tokens: part.prompt_eval_count + part.eval_count };
    }
  }
  throw new Error('the reply ended before it was done');
}

/** The client library prints a body that is not JSON on stdout, which is ours: it is given JSON. */
async function asJson(response: Response): Promise<Response> {
  const body = await response.text();
  const { status, headers } = response;
  return Response.json(
    { error: errorOf(body).slice(0, MAX_ERROR_CHARACTERS) || response.statusText || 'no reason given' },
    { status, headers: { 'Retry-After': headers.get('Retry-After') ?? '' } },
  );
}

function errorOf(body: string): string {
  try {
    return z.object({ error: z.string() }).parse(JSON.parse(body)).error;
  } catch {
    return body;
  }
}

/** Seconds or a date, as HTTP has it; undefined where the server names no time. */
function retryAfterMsOf(response: Response): number | undefined {
  const value = response.headers.get('Retry-After') ?? '';
  if (value === '') return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

function stopped(url: string, cause: unknown): MeshError {
  return new MeshError('engine', `the run ended before the Ollama server at ${url} had replied`, { cause });
}

function explain(
  error: unknown,
  url: string,
  model: string | undefined,
  status: number | undefined,
): MeshError {
  const message = messageOf(error);
  const because = (text: string) => new MeshError('engine', text, { cause: error });
  if (/context (length|size|window)/i.test(message)) {
    return because(`${model} at ${url} cannot take the whole prompt (${message}): raise options.num_ctx`);
  }
  if (status === 404 && model !== undefined && message.includes('model')) {
    return because(
      `the Ollama server at ${url} has no model ${model} (${message}): get it with \`${pullCommand(model)}\``,
    );
  }
  if (status === 404) return because(`${url} is no Ollama server, or an old one (HTTP 404: ${message})`);
  if (status !== undefined) return because(`the Ollama server at ${url} answered HTTP ${status}: ${message}`);
  const cause = error instanceof TypeError ? error.cause : undefined;
  if (systemCodeOf(cause) === 'ECONNREFUSED') {
    return because(
      `no Ollama server at ${url}: start it with \`ollama serve\` (install: https://ollama.com), or run without a model: ` +
        '--engine extractive',
    );
  }
  if (cause instanceof Error) {
    return because(
      `no connection to the Ollama server at ${url}, or it was lost: ${cause.message || systemCodeOf(cause)}`,
    );
  }
  if (error instanceof z.ZodError || error instanceof SyntaxError) {
    return because(
      `${url} does not speak Ollama's format: ${error instanceof z.ZodError ? issuesOf(error) : message}`,
    );
  }
  return because(`the Ollama server at ${url} failed in the middle of its reply: ${message}`);
}

/** Gemma goes by the name that its makers gave it; Ollama's library has it under another. */
function pullCommand(model: string): string {
  return model === 'gemma-7b-it'
    ? 'ollama pull gemma:7b-instruct && ollama cp gemma:7b-instruct gemma-7b-it'
    : `ollama pull ${model}`;
}
