import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { readErrorWords } from '../../http/error-words.ts';

/** A server's description for messages, with advice for its users. */
export interface ModelServer {
  /** The URL, which also identifies the server's permits. */
  readonly url: string;
  /** The name after "the" in "the … at http://…": `Ollama server`. */
  readonly name: string;
  /** The maker of the format. */
  readonly maker: string;
  /** Removed from every message, including the server's own. */
  readonly key: string | undefined;
  readonly advice: ModelAdvice;
}

interface ModelAdvice {
  readonly start: string;
  readonly busy: string;
  readonly key: string;
  readonly longPrompt: string;
  readonly cutReply: string;
  /** The way to get words into the content that stood in the field for thoughts. */
  readonly onlyThoughts: string;
  readonly missingModel: (model: string) => string;
}

/** The reason why a model server gave no reply. */
export type Fault = { readonly cause?: unknown } & (
  | { readonly kind: 'stopped' }
  | { readonly kind: 'timeout'; readonly timeoutMs: number }
  /** The reply began and did not become complete. */
  | { readonly kind: 'cut'; readonly characters: number; readonly why: string; readonly isStalled?: true }
  /** The reply is complete and cannot be taken, such as for its size. */
  | { readonly kind: 'unusable'; readonly why: string }
  /** The reply is empty because the server refused it. */
  | { readonly kind: 'filtered'; readonly why: string }
  | StatusFault
  /** There was no connection: no listener, no such host, or no trust. */
  | { readonly kind: 'unreachable'; readonly isRefused: boolean; readonly why: string }
  /** The connection broke before a reply. */
  | { readonly kind: 'lost'; readonly why: string }
  /** The reply has another format than its kind of server uses. */
  | { readonly kind: 'foreign'; readonly why: string }
);

/** A server's refusal, with its own words. */
interface StatusFault {
  readonly kind: 'status';
  readonly status: number;
  readonly message: string;
  /** The thing that the server refused, as far as its words name it. */
  readonly refusal: Refusal | undefined;
  /** The pause that the server asks for, if it does. */
  readonly retryAfterMs: number | undefined;
  /** True if the server said so in a reply that had begun with HTTP 200. */
  readonly isInReply: boolean;
}

/**
 * Servers refuse the content of a request, the length of its prompt, or a part of its form that can be left out; every request of an account
 * without quota; or those of all clients for a while.
 */
type Refusal = 'filtered' | 'long-prompt' | 'form' | 'quota' | 'rate-limit';

/** Ends the reading of a reply with a fault. */
export class FaultError extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.kind, { cause: fault.cause });
    this.fault = fault;
  }
}

const MAX_ERROR_CHARACTERS = 500;

/**
 * Creates the fault for a refusal from its body: the words of an error in any server's form, else the body itself.
 *
 * @param head status and pause of the reply; undefined for an error within a reply, whose type stands for a status
 */
export function createStatusFault(
  body: string,
  key?: string,
  head?: Pick<StatusFault, 'status' | 'retryAfterMs'>,
): StatusFault {
  const { message: said, code = '' } = readErrorWords(body) ?? { message: body.trim() };
  const message = redact(said, key).slice(0, MAX_ERROR_CHARACTERS).toWellFormed() || 'no reason given';
  const { status, retryAfterMs } = head ?? { status: toStatus(code), retryAfterMs: undefined };
  const refusal = classifyRefusal(status, message, code);
  return { kind: 'status', status, message, refusal, retryAfterMs, isInReply: head === undefined };
}

/** Statuses for error types in replies that began with HTTP 200; all other types count as server errors. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  overloaded_error: 529,
  rate_limit_error: 429,
  invalid_request_error: 400,
  exceed_context_size_error: 400,
};

function toStatus(type: string): number {
  return STATUS_OF_TYPE[type] ?? (/^[45]\d\d$/.test(type) ? Number(type) : 500);
}

/** Creates the error for a refusal in the middle of a reply, in any server's form. */
export function createReplyError(event: object): FaultError {
  return new FaultError(createStatusFault(JSON.stringify(event)));
}

/** Classifies a refusal by the words of servers, which have no common codes. */
function classifyRefusal(status: number, message: string, code: string): Refusal | undefined {
  if (code === 'insufficient_quota' || code === 'billing_error') return 'quota';
  if (isFiltered(status, message, code)) return 'filtered';
  if (isLongPrompt(status, message, code)) return 'long-prompt';
  if (status === 429) return 'rate-limit';
  const isForm = REFUSALS.includes(status) || (FAILURES.includes(status) && isAboutForm(message));
  return isForm ? 'form' : undefined;
}

/** The action that may help: the same request later, another model, or only the user's. */
type Remedy = 'later' | 'another-model' | 'nothing';

/** Chooses the remedy. A request to a model has no side effect, so every fault that may pass is retried. */
export function chooseRemedy(fault: Fault): Remedy {
  switch (fault.kind) {
    case 'stopped':
    case 'foreign':
      return 'nothing';
    case 'timeout':
    case 'unreachable':
    case 'unusable':
    case 'filtered':
      return 'another-model';
    case 'cut':
    case 'lost':
      return 'later';
    case 'status':
      return chooseStatusRemedy(fault);
  }
}

function chooseStatusRemedy(fault: StatusFault): Remedy {
  const { status, refusal } = fault;
  if (refusal === 'quota' || refusal === 'long-prompt' || refusal === 'filtered') return 'another-model';
  if (isTransient(fault) && refusal !== 'form') return 'later';
  return status >= 500 || status === 404 ? 'another-model' : 'nothing';
}

/** Returns true if the same request may succeed later. Ollama's 500 is also that of a runner that crashed, which it starts again. */
function isTransient({ status, message }: StatusFault): boolean {
  return (
    status === 429 || status === 408 || (status >= 500 && status !== 501 && !/system memory/i.test(message))
  );
}

/**
 * Returns true if the fault says something about this request or its reply, and nothing about those of other questions. All other faults
 * have a cause that questions share: a server that is gone, a key, a quota.
 */
function isOfQuestion(fault: Fault): boolean {
  switch (fault.kind) {
    case 'timeout':
    case 'cut':
    case 'unusable':
    case 'filtered':
      return true;
    case 'status':
      if (fault.refusal === 'quota' || [401, 402, 404].includes(fault.status)) return false;
      return fault.isInReply || fault.refusal === 'long-prompt' || fault.refusal === 'filtered';
    default:
      return false;
  }
}

/** Returns true if the server refused the content of a request. */
function isFiltered(status: number, message: string, code: string): boolean {
  if (![400, 403, 422, 451, 500].includes(status)) return false;
  return (
    /content_?(?:filter|policy)|responsible_?ai|safety/i.test(code) ||
    /content[ _-](?:management |filter|policy)|(?:safety|usage) (?:system|polic|filter|setting)|moderation|flagged/i.test(
      message,
    )
  );
}

/** The codes of servers that refuse a prompt for its length. */
const LONG_PROMPT_CODE =
  /context_length|exceed_context|prompt_tokens_exceeded|tokens_limit_reached|request_too_large|string_above_max/;
/** The wording of their messages. */
const LONG_PROMPT =
  /context (?:length|size|window)|(?:prompt|inputs?|requests?|messages?|body|string)(?: body)? (?:is |are |was )?too (?:long|large)|too many (?:input )?tokens|max(?:imum)? (?:context|model|prompt|input|number of (?:input )?tokens)|tokens? count\b.{0,40}\bexceeds|reduce (?:the|your) (?:length|message|prompt|input)|must have less than \d+ tokens|max_new_tokens|input length/i;
/** The wording of rate limits that the request alone exceeds, so that waiting cannot help. */
const LONG_FOR_RATE = /request too large|tokens must be reduced/i;

/** Returns true if the prompt was too long. */
function isLongPrompt(status: number, message: string, code: string): boolean {
  if (status === 413) return true;
  if (status === 429) return LONG_FOR_RATE.test(message);
  return LONG_PROMPT_CODE.test(code) || LONG_PROMPT.test(message);
}

/** Statuses for a request that the server does not understand; 422 comes from servers written with FastAPI. */
const REFUSALS = [400, 422];
/** Statuses that servers give for an unsupported part of a request, as if it were their own fault. */
const FAILURES = [500, 501];

/** Returns true if a server complains about the form of a request, not its content. */
export function isAboutForm(message: string): boolean {
  return /\b(?:tools?|functions?|grammar|schema|template|jinja|regex|pattern)\b/i.test(message);
}

/** @param tries requests that failed, including this one */
export function explain(
  fault: Fault,
  server: ModelServer,
  model: string | undefined,
  tries: number,
): MeshError {
  const text = describeFault(fault, server, model, tries);
  const code = isOfQuestion(fault) ? 'reply' : 'engine';
  return new MeshError(code, redact(text, server.key), { cause: fault.cause });
}

/** Minimum length of a key. Shorter ones are words such as `none` and `EMPTY`, which local servers are given in place of one. */
const MIN_KEY_CHARACTERS = 8;

/** Removes the key from `text`: servers repeat what they refuse. */
function redact(text: string, key = ''): string {
  return key.length < MIN_KEY_CHARACTERS ? text : text.replaceAll(key, '[key]');
}

function describeFault(fault: Fault, server: ModelServer, model: string | undefined, tries: number): string {
  const the = `the ${server.name} at ${server.url}`;
  const times = tries === 1 ? '' : ` (${tries} times)`;
  switch (fault.kind) {
    case 'stopped':
      return `the run ended before ${the} had replied`;
    case 'timeout':
      return (
        `${the} did not finish within ${fault.timeoutMs / 1000} s: allow more time (--question-time for ` +
        'questions, --timeout for tasks), or take a smaller model'
      );
    case 'cut':
      return `${the} gave no whole reply${times}: ${describeCut(fault)}`;
    case 'unusable':
      return `${the} gave a reply that cannot be taken: ${fault.why}`;
    case 'filtered':
      return describeFilter(fault.why, server, model);
    case 'unreachable':
      return fault.isRefused
        ? `no ${server.name} at ${server.url}: ${server.advice.start}`
        : `no connection to ${the}: ${fault.why}`;
    case 'lost':
      return `no connection to ${the}, or it was lost${times}: ${fault.why}`;
    case 'foreign':
      return `${server.url} does not speak ${server.maker}'s format (${fault.why}): check that this is the URL of the API`;
    case 'status':
      return describeStatus(fault, server, model, tries);
  }
}

export function describeCut({ why, characters }: Extract<Fault, { kind: 'cut' }>): string {
  return `${why} after ${characters} characters`;
}

function describeFilter(why: string, { url }: ModelServer, model: string | undefined): string {
  return `${model} at ${url} refused to answer (content filter${why === '' ? '' : `: ${why}`}): rephrase the question, or take another model`;
}

function describeStatus(
  fault: StatusFault,
  server: ModelServer,
  model: string | undefined,
  tries: number,
): string {
  const { status, message, refusal, isInReply } = fault;
  const the = `the ${server.name} at ${server.url}`;
  if (refusal === 'long-prompt')
    return `${model} at ${server.url} cannot take the whole prompt (${message}): ${server.advice.longPrompt}`;
  if (refusal === 'filtered') return describeFilter(message, server, model);
  if (refusal === 'quota')
    return `the account at ${the} has no quota left (${message}): raise its limit, or take another server`;
  if (status === 401 || status === 403)
    return `${the} refused the key (HTTP ${status}: ${message}): ${server.advice.key}`;
  if (status === 404 && model !== undefined && /model/i.test(message)) {
    return `${the} has no model ${model} (${message}): ${server.advice.missingModel(model)}`;
  }
  if (status === 404)
    return `${server.url} is not an ${server.name}, or is an old one (HTTP 404: ${message})`;
  if (isBusy(status)) {
    const times = tries === 1 ? 'busy' : `busy ${tries} times`;
    return `${the} was ${times} (HTTP ${status}: ${message}): try again later, run fewer tasks at once${server.advice.busy}`;
  }
  if (isInReply)
    return `${the} failed in the middle of its reply${tries === 1 ? '' : ` (${tries} times)`}: ${message}`;
  const hint = /temperature/i.test(message) ? '; `temperature: null` leaves it out' : '';
  return `${the} answered HTTP ${status}${tries === 1 ? '' : ` ${tries} times`}: ${message}${hint}`;
}

/** Returns true for the statuses of an overloaded server; 529 is Anthropic's. */
function isBusy(status: number): boolean {
  return status === 429 || status === 503 || status === 529;
}
