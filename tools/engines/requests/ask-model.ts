import type { ChatMessage, ChatTurn, EngineWork, ModelExchange } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { hashRequest } from '@gaia-mesh/core/contracts/model-exchange.ts';
import { readMonotonicUs } from '@gaia-mesh/core/system/clock.ts';
import { computeBackoffMs, type Pace } from '../../http/service.ts';
import type { EngineOptions } from '../engine-options.ts';
import type { ExchangeLimits, Outcome } from '../http/exchange.ts';
import { chooseRemedy, describeCut, explain, type Fault, isAboutForm } from '../http/fault.ts';
import { type ModelQuery, OMITTABLE } from '../model-format.ts';
import type { Permits } from '../permits.ts';
import { computeCostUsd } from '../prices.ts';
import { renderPrompt } from '../prompt.ts';
import { readReply } from '../replies/read-reply.ts';
import type { ModelReply } from '../replies/server-reply.ts';
import { withSchema, withTextTools } from './in-words.ts';
import type { Demands, ModelEndpoint } from './model-endpoint.ts';
import { countQuery } from './window.ts';

type AskAttempt =
  | { readonly reply: ChatTurn; readonly fault?: undefined }
  | { readonly reply?: undefined; readonly fault: Fault; readonly error: MeshError };

/** The engine's options with their defaults. */
type Resolved = EngineOptions &
  Required<Pick<EngineOptions, 'timeoutMs' | 'permits' | 'pace'>> & { readonly maxRetries: number };

/** Maximum shortenings: a prompt that does not fit at a twelfth of its length does not fit at all. */
const MAX_SHORTENINGS = 5;
const SUMMARY_PROMPT = 'summarise';
/** Maximum characters of the question in the request for a summary. */
const MAX_QUESTION_CHARACTERS = 4_000;

/** A request to any model. */
export type Question = Omit<ModelQuery, 'model' | 'reply' | 'omits'>;

/**
 * Asks a model: every request of every engine passes through here, with its messages as values. It adapts the request to the server (see
 * {@link Demands}), shortens it if it would not fit, asks once more what was filtered, reads the reply and counts the usage.
 *
 * @throws MeshError `engine` for pictures to a model that cannot see according to its server
 */
export async function askModel(
  endpoint: ModelEndpoint,
  question: Question,
  work: EngineWork,
  options: Resolved,
): Promise<AskAttempt> {
  const { server, model, window } = endpoint;
  const { maxRetries, permits, pace, timeoutMs, idleMs } = options;
  const limits = { timeoutMs, idleMs, signal: work.signal };
  const patience = { maxRetries, permits, pace, onNote: (note: string) => work.onNote?.(note) };
  await window.known();
  if (question.messages.some(hasPictures) && (await endpoint.seesPictures()) === false)
    throw new MeshError('engine', `${model} cannot see pictures, according to ${server.url}`);
  const before = endpoint.accepted ?? createDemands(endpoint.toolCalls);
  let demands = before;
  let refused: { readonly fault: Fault; readonly error: MeshError } | undefined;
  const forget = window.remember();
  let shortenings = 0;
  let isAskedAgain = false;
  for (;;) {
    const whole: ModelQuery = { ...question, model, reply: demands.reply, omits: demands.omits };
    const shorter = await summarizeQuery(endpoint, whole, work, options);
    const query = { ...shorter, ...window.fit(shorter) };
    const sent = asDemanded(query, demands.tools);
    const startedUs = readMonotonicUs();
    const outcome = await chatPatiently(endpoint, sent, limits, patience);
    if (outcome.value !== undefined) {
      const exchange = toExchange(hashRequest(question), sent, outcome.value);
      work.onExchange?.({ ...exchange, startedUs, endedUs: readMonotonicUs() });
      accept(endpoint, before, demands, work);
      window.counted(query, outcome.value.promptTokens);
      countUsage(endpoint, outcome.value, work);
    }
    const { finish } = outcome.value ?? {};
    if (outcome.value !== undefined && finish !== undefined && finish !== 'filtered')
      return { reply: readWhole(endpoint, question, { ...outcome.value, finish }, work) };
    const fault: Fault = outcome.fault ?? { kind: 'filtered', why: '' };
    const failed = { fault, error: explain(fault, server, model, outcome.tries) };
    // A filter decides in part by chance, so that the same words may pass.
    const refusal = fault.kind === 'status' ? fault.refusal : undefined;
    if (fault.kind === 'filtered' || refusal === 'filtered') {
      if (isAskedAgain) return failed;
      isAskedAgain = true;
      work.onNote?.(`${failed.error.message}; it is asked once more`);
      continue;
    }
    if (fault.kind !== 'status') return refused ?? failed;
    if (refusal === 'long-prompt') {
      window.refused(query, fault.message);
      shortenings += 1;
      const next = { ...shorter, ...window.fit(shorter) };
      if (countQuery(next) >= countQuery(query) || shortenings > MAX_SHORTENINGS) {
        forget();
        return failed;
      }
      const offered =
        next.tools.length < question.tools.length
          ? `, with ${next.tools.length} of ${question.tools.length} tools`
          : '';
      work.onNote?.(`${failed.error.message}; it is shortened, the oldest results first${offered}`);
      continue;
    }
    if (refusal !== 'form') return refused ?? failed;
    const less = reduceDemands(demands, query, fault.message, endpoint.toolCalls);
    // Leaving the part out did not help, so it was not the reason.
    if (less === undefined) return refused ?? failed;
    refused ??= failed;
    demands = less;
  }
}

/** Reads a complete reply, and notes what of it is lost. */
function readWhole(
  { server, model }: ModelEndpoint,
  { tools, messages }: Question,
  value: ModelReply & { readonly finish: ChatTurn['finish'] },
  work: EngineWork,
): ChatTurn {
  const where = `${model} at ${server.url}`;
  for (const why of value.lost) work.onWarning?.({ lost: 'part', where, why });
  const reply = readReply(value, tools, messages.length);
  if (!hasOnlyThoughts(value)) return reply;
  const emptied = `${where} put all its words into the field for thoughts, and none into the content: ${server.advice.onlyThoughts}`;
  work.onWarning?.({ lost: 'reply', where, why: emptied });
  return { ...reply, emptied };
}

function hasOnlyThoughts({ content, reasoning = '', toolCalls, finish }: ModelReply): boolean {
  return finish === 'stop' && toolCalls.length === 0 && content.trim() === '' && reasoning.trim() !== '';
}

function hasPictures(message: ChatMessage): boolean {
  return message.role === 'user' && (message.images?.length ?? 0) > 0;
}

/** Replaces the oldest results by a summary of the same model, if shortening them alone does not make the query fit. */
async function summarizeQuery(
  endpoint: ModelEndpoint,
  query: ModelQuery,
  work: EngineWork,
  options: Resolved,
): Promise<ModelQuery> {
  const messages = await endpoint.summaries.shorten(
    query.messages,
    (some) => endpoint.window.takes({ ...query, messages: some }),
    async (results) => {
      const given = { question: findQuestion(query.messages), results: results.join('\n\n---\n\n') };
      const prompt = renderPrompt(SUMMARY_PROMPT, options.prompts(SUMMARY_PROMPT), given);
      const tried = await askModel(endpoint, { messages: prompt, tools: [] }, work, options);
      work.onNote?.(
        tried.fault === undefined
          ? 'the oldest results of tools are summarised, to fit the context of the model'
          : `the oldest results could not be summarised: ${tried.error.message}`,
      );
      return tried.reply?.content;
    },
  );
  return { ...query, messages };
}

/** Finds the question by the parts of the prompt; a conversation without parts begins with it. */
function findQuestion(messages: readonly ChatMessage[]): string {
  const asked = messages.find(({ role }) => role === 'user');
  if (asked === undefined) return '';
  const parts = 'parts' in asked ? (asked.parts ?? []) : [];
  const text = parts.filter(({ kind }) => kind === 'question').map((part) => part.text);
  return (text.length > 0 ? text.join('\n') : asked.content).slice(0, MAX_QUESTION_CHARACTERS).toWellFormed();
}

/** Builds the record of a request as it was sent, and of its reply as it came. */
function toExchange(
  key: string,
  { model, messages, tools, schema, reply: form }: ModelQuery,
  reply: ModelReply,
): ModelExchange {
  const { content, reasoning, toolCalls, finish, promptTokens, completionTokens, counts } = reply;
  return {
    key,
    model,
    messages,
    tools,
    // If the schema is given in words, it is part of the messages.
    schema: form === 'schema' ? schema : undefined,
    reply: { content, reasoning, toolCalls, finish },
    promptTokens,
    completionTokens,
    counts,
  };
}

/** Remembers what the server accepted, and reports once what it did not. */
function accept(endpoint: ModelEndpoint, before: Demands, now: Demands, work: EngineWork): void {
  if (now === before) return;
  const changes = describeChanges(endpoint.accepted ?? before, now);
  endpoint.accepted = now;
  if (changes.length > 0)
    work.onNote?.(
      `${endpoint.model} at ${endpoint.server.url} does not support all of the request: ${changes.join('; ')}`,
    );
}

function countUsage({ model, price }: ModelEndpoint, reply: ModelReply, work: EngineWork): void {
  const { promptTokens, completionTokens, cachedTokens } = reply;
  work.countTokens((promptTokens ?? 0) + (completionTokens ?? 0));
  work.countUsage?.({
    model,
    promptTokens,
    completionTokens,
    cachedTokens,
    costUsd: computeCostUsd(price, reply),
  });
}

function createDemands(toolCalls: ModelEndpoint['toolCalls']): Demands {
  return { reply: 'schema', tools: toolCalls === 'text' ? 'text' : 'native', omits: [] };
}

/** Builds the query for sending: what the server does not support is put into words. */
function asDemanded(query: ModelQuery, form: Demands['tools']): ModelQuery {
  let { messages } = query;
  const areWords = form === 'text' && (query.tools.length > 0 || messages.some(hasToolPart));
  if (areWords) messages = withTextTools(messages, query.tools);
  if (query.schema !== undefined && query.reply !== 'schema') messages = withSchema(messages, query.schema);
  return { ...query, messages, tools: areWords ? [] : query.tools };
}

function hasToolPart(message: ChatMessage): boolean {
  return message.role === 'tool' || (message.role === 'assistant' && (message.toolCalls ?? []).length > 0);
}

const LACKS_TOOLS =
  /(?:not|n't|no|without|unsupported|requires?)\b[^.]{0,60}\b(?:tools?|functions?)\b|\b(?:tools?|function.calls?(?:ing)?)\b[^.]{0,60}(?:not|n't|unsupported|requires?)\b/i;

/**
 * Reduces the demands after a refusal: first by the part that the server names, then by weaker forms: schema → JSON → words; tools →
 * text. Undefined if nothing is left to leave out.
 */
function reduceDemands(
  now: Demands,
  { schema, tools }: ModelQuery,
  message: string,
  toolCalls: ModelEndpoint['toolCalls'],
): Demands | undefined {
  const named = OMITTABLE.find(
    (part) => !now.omits.includes(part) && new RegExp(`\\b${part}\\b`, 'i').test(message),
  );
  if (named !== undefined) return { ...now, omits: [...now.omits, named] };
  const mayWrite = toolCalls === 'auto' && now.tools === 'native' && tools.length > 0;
  if (mayWrite && LACKS_TOOLS.test(message)) return { ...now, tools: 'text' };
  if (schema !== undefined && now.reply === 'schema') return { ...now, reply: 'json' };
  if (schema !== undefined && now.reply === 'json') return { ...now, reply: 'text' };
  return mayWrite && isAboutForm(message) ? { ...now, tools: 'text' } : undefined;
}

/** Describes the features that are not used from now on, for the log; empty if nothing changed. */
function describeChanges(before: Demands, now: Demands): string[] {
  return [
    ...(before.tools === now.tools ? [] : ['tool calls are written as text']),
    ...(before.reply === now.reply
      ? []
      : [
          now.reply === 'json'
            ? 'replies are restricted to JSON, with their schema in words'
            : 'replies are free text, with their schema in words',
        ]),
    ...now.omits.filter((part) => !before.omits.includes(part)).map((part) => `${part} is left out`),
  ];
}

interface Patience {
  /** Further requests after a failure that may pass (RA-24); unusable replies are counted elsewhere (C-07). */
  readonly maxRetries: number;
  readonly permits: Permits;
  readonly pace: Pace;
  readonly onNote: (note: string) => void;
}

/** Maximum retries of a reply that stalled: each costs the longest pause. */
const MAX_STALL_RETRIES = 1;

/** Limits are per minute; a longer pause would outlast any run. */
const BACKOFF = { firstMs: 500, maxMs: 10_000, maxRetryAfterMs: 60_000 };

type PatientOutcome = Outcome<ModelReply> & { readonly tries: number };

/** Sends a query until there is a reply, a retry cannot help, or the retries are used up. */
async function chatPatiently(
  endpoint: ModelEndpoint,
  query: ModelQuery,
  limits: ExchangeLimits,
  patience: Patience,
): Promise<PatientOutcome> {
  const { maxRetries, pace, onNote } = patience;
  for (let tries = 1; ; tries++) {
    const { outcome, delayMs } = await chatOnce(endpoint, query, limits, patience, tries);
    if (outcome.fault === undefined || delayMs === undefined) return { ...outcome, tries };
    onNote(
      `${query.model} at ${endpoint.server.url}: ${shortenFault(outcome.fault)}; again in ${(delayMs / 1000).toFixed(1)} s ` +
        `(retry ${tries} of ${maxRetries})`,
    );
    try {
      await pace.wait(delayMs, limits.signal);
    } catch (cause) {
      if (!limits.signal.aborted) throw cause;
      return { fault: { kind: 'stopped', cause }, tries };
    }
  }
}

/** Makes one request with a permit, which is released before any pause; returns `delayMs` if a retry is worthwhile. */
async function chatOnce(
  endpoint: ModelEndpoint,
  query: ModelQuery,
  limits: ExchangeLimits,
  { maxRetries, permits, pace }: Patience,
  tries: number,
): Promise<{ outcome: Outcome<ModelReply>; delayMs?: number }> {
  const release = await permits.acquire(endpoint.server.url, limits.signal);
  let pauseMs = 0;
  try {
    const outcome = await endpoint.chat(query, limits);
    const { fault } = outcome;
    if (fault === undefined || tries > maxRetries || chooseRemedy(fault) !== 'later') return { outcome };
    if (fault.kind === 'cut' && fault.isStalled === true && tries > MAX_STALL_RETRIES) return { outcome };
    const retryAfterMs = fault.kind === 'status' ? fault.retryAfterMs : undefined;
    const delayMs = computeBackoffMs(BACKOFF, tries, retryAfterMs, pace.random);
    if (fault.kind === 'status' && fault.refusal === 'rate-limit') pauseMs = delayMs;
    return { outcome, delayMs };
  } finally {
    release(pauseMs);
  }
}

function shortenFault(fault: Fault): string {
  if (fault.kind === 'cut') return describeCut(fault);
  if (fault.kind === 'status')
    return `${fault.isInReply ? 'failed in its reply' : `HTTP ${fault.status}`}: ${fault.message}`;
  return 'why' in fault ? fault.why : fault.kind;
}
