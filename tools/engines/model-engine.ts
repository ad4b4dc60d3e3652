import type { ChatMessage, ChatTurn, Engine, EngineWork } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { asRetry } from '@gaia-mesh/core/contracts/prompt-part.ts';
import { findNonAnswer } from '../answers/clean-answer.ts';
import { realPace } from '../http/service.ts';
import type { EngineOptions } from './engine-options.ts';
import { chooseRemedy } from './http/fault.ts';
import type { ModelFormat } from './model-format.ts';
import { processPermits } from './permits.ts';
import { renderPrompt } from './prompt.ts';
import { readJson } from './replies/json-reply.ts';
import { askModel, type Question } from './requests/ask-model.ts';
import { type ModelEndpoint, resolveModelEndpoints } from './requests/model-endpoint.ts';
import { buildSchema } from './schemas/portable-schema.ts';
import type { ServerKind } from './server-kind.ts';

const DEFAULT_TIMEOUT_MS = 120_000;

/** Maximum replies to a step. An unusable one is sent back with the fault, once: a model that fails twice fails a third time. */
const MAX_REPLIES = 2;

/** A primary model that failed is not asked for this long; otherwise each request would wait for all its retries. */
const PRIMARY_REST_MS = 60_000;

/**
 * Creates the engine of any model server: its requests, the checks of its replies, and its fallback. Tokens are the server's own figures
 * for every reply; a reply that broke off has none.
 *
 * @throws MeshError `usage` for options that no server could take
 */
export function createModelEngine(
  name: string,
  kind: ServerKind,
  format: ModelFormat,
  options: EngineOptions,
): Engine {
  const endpoints = resolveModelEndpoints(name, kind, format, options);
  return createAskingEngine(name, options.prompts, createAsker(endpoints, options));
}

/** A usable reply, with words for messages about it. */
export interface AttributedReply {
  readonly reply: ChatTurn;
  /** The model and the server that gave it. */
  readonly by: string;
  /** Advice for a reply that was cut off. */
  readonly cutReply: string;
}

/** Creates an engine over `ask`: prompts become messages, replies become results, and an unusable reply is sent back. */
export function createAskingEngine(
  name: string,
  prompts: EngineOptions['prompts'],
  ask: (question: Question, work: EngineWork) => Promise<AttributedReply>,
): Engine {
  return {
    name,
    tokenSource: 'model',

    async perform(step, work) {
      const { prompt, variables, reply: schema, result } = step.model;
      const messages: ChatMessage[] = renderPrompt(prompt, prompts(prompt), variables());
      const format = buildSchema(schema);
      for (let replies = 1; ; replies++) {
        const { reply, by, cutReply } = await ask({ messages, tools: [], schema: format }, work);
        const read = readJson(reply.content, schema);
        if (read.fault === undefined) {
          if (read.isCut === true)
            work.onWarning?.({
              lost: 'part',
              where: `the reply of ${by} to ${prompt}`,
              why: 'it was cut off in a list; the whole items before the cut are used',
            });
          return result(read.value);
        }
        if (reply.finish === 'length') {
          throw new MeshError('reply', `the reply of ${by} to ${prompt} was cut off: ${cutReply}`);
        }
        if (replies === MAX_REPLIES) {
          if (isRefusal(reply))
            throw new MeshError(
              'reply',
              `${by} refused to answer ${prompt}: “${reply.content.slice(0, 300).toWellFormed()}”`,
            );
          if (reply.emptied !== undefined) throw new MeshError('reply', reply.emptied);
          throw new MeshError(
            'reply',
            `${by} gave no usable reply to ${prompt} in ${replies} attempts (${read.fault}): take another model`,
          );
        }
        messages.push(
          { role: 'assistant', content: reply.content },
          {
            role: 'user',
            ...asRetry(`That reply cannot be used: ${read.fault}. Reply again, with the JSON only.`),
          },
        );
      }
    },

    async chat({ messages, tools = [] }, work) {
      return (await ask({ messages, tools }, work)).reply;
    },
  };
}

/** Creates the function that asks the primary model, or the fallback. */
function createAsker(
  { settings, primary, fallback }: ReturnType<typeof resolveModelEndpoints>,
  options: EngineOptions,
) {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, permits = processPermits, pace = realPace } = options;
  const asking = { ...options, maxRetries: settings.max_retries, timeoutMs, permits, pace };
  let primaryRestsUntilMs = Number.NEGATIVE_INFINITY;

  return async (question: Question, work: EngineWork): Promise<AttributedReply> => {
    const tryAt = (endpoint: ModelEndpoint) => askModel(endpoint, question, work, asking);
    if (fallback === undefined) {
      const tried = await tryAt(primary);
      if (tried.fault !== undefined) throw tried.error;
      return attribute(tried.reply, primary);
    }
    let before = 'the primary model failed recently';
    if (pace.nowMs() >= primaryRestsUntilMs) {
      const tried = await tryAt(primary);
      if (tried.fault === undefined) {
        if (!isRefusal(tried.reply)) return attribute(tried.reply, primary);
        work.onNote?.(
          `${primary.model} refused to answer; ${fallback.model} at ${fallback.server.url} is asked`,
        );
        const second = await tryAt(fallback);
        if (second.fault === undefined) return attribute(second.reply, fallback);
        return attribute(tried.reply, primary);
      }
      if (chooseRemedy(tried.fault) === 'nothing') throw tried.error;
      if (tried.error.code !== 'reply') primaryRestsUntilMs = pace.nowMs() + PRIMARY_REST_MS;
      before = tried.error.message;
      work.onNote?.(`${before}; ${fallback.model} at ${fallback.server.url} continues`);
    }
    const tried = await tryAt(fallback);
    if (tried.fault === undefined) return attribute(tried.reply, fallback);
    throw new MeshError(tried.error.code, `${tried.error.message}; before that: ${before}`, {
      cause: tried.error,
    });
  };
}

function isRefusal({ content, toolCalls }: ChatTurn): boolean {
  return toolCalls.length === 0 && findNonAnswer(content) === 'refusal';
}

function attribute(reply: ChatTurn, { model, server }: ModelEndpoint): AttributedReply {
  return { reply, by: `${model} at ${server.url}`, cutReply: server.advice.cutReply };
}
