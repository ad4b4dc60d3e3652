import type { ChatMessage, Engine, EngineWork } from '../../core/contracts/engine.ts';
import { MeshError } from '../../core/contracts/errors.ts';
import type { EngineSettings } from './engine-settings.ts';
import { explain, type Fault, remedyFor } from './http/fault.ts';
import { chatPatiently, realPace } from './http/retry.ts';
import { processPermits } from './permits.ts';
import { costUsd, type Price } from './prices.ts';
import { renderPrompt } from './prompt.ts';
import type { EngineOptions } from './registry.ts';
import { readJson } from './replies/json-reply.ts';
import { schemaToSend } from './schemas/portable-schema.ts';
import type { ModelClient, ModelQuery, ModelReply } from './servers/model-client.ts';

const DEFAULT_TIMEOUT_MS = 120_000;

/** A reply that cannot be used is sent back with the fault, once: a model that fails twice fails a third time. */
const MAX_REPLIES = 2;

/** Who has just failed is asked again after this time: until then each request would wait for all its retries. */
const PRIMARY_REST_MS = 60_000;

/** One model at one place. */
interface ModelPlace {
  readonly client: ModelClient;
  readonly model: string;
  readonly price: Price | undefined;
}

interface ModelPlaces {
  readonly primary: ModelPlace;
  /** Continues where the primary cannot be had, with the same conversation and tools (RA-23). */
  readonly fallback: ModelPlace | undefined;
}

/** Where an engine's models are, by its settings. */
export function modelPlaces(
  options: EngineOptions,
  settings: EngineSettings,
  by: {
    readonly defaultModel: string;
    readonly clientAt: (host: string | undefined) => ModelClient;
    readonly presetPrice: (model: string) => Price | undefined;
  },
): ModelPlaces {
  const { fallback_model, fallback_base_url } = settings;
  const model = options.model ?? by.defaultModel;
  const client = by.clientAt(options.host);
  const fallbackModel = fallback_model ?? model;
  const hasFallback = fallback_model !== undefined || fallback_base_url !== undefined;
  return {
    primary: { client, model, price: settings.price ?? by.presetPrice(model) },
    fallback: hasFallback
      ? {
          client: fallback_base_url === undefined ? client : by.clientAt(fallback_base_url),
          model: fallbackModel,
          price: settings.fallback_price ?? by.presetPrice(fallbackModel),
        }
      : undefined,
  };
}

/**
 * An engine of any model server: what is asked of a model, what its replies must be, and who else is asked when there is
 * none. The tokens are the server's own figures, of every reply; a reply that broke off has no figures.
 */
export function modelEngine(
  name: string,
  places: ModelPlaces,
  options: EngineOptions,
  settings: EngineSettings,
): Engine {
  const ask = asker(places, options, settings);

  return {
    name,
    tokenSource: 'model',

    async perform(step, work) {
      const { prompt, variables, reply: schema, result } = step.model;
      const messages: ChatMessage[] = renderPrompt(prompt, options.prompts(prompt), variables());
      const format = schemaToSend(schema);
      for (let replies = 1; ; replies++) {
        const { reply, place } = await ask({ messages, tools: [], schema: format }, work);
        const { model, client } = place;
        const { url, advice } = client.server;
        const read = readJson(reply.content, schema);
        if (read.fault === undefined) return result(read.value);
        if (reply.finish === 'length') {
          throw new MeshError(
            'engine',
            `the reply of ${model} at ${url} to ${prompt} was cut off: ${advice.cutReply}`,
          );
        }
        if (replies === MAX_REPLIES) {
          throw new MeshError(
            'engine',
            `${model} at ${url} gave no usable reply to ${prompt} in ${replies} attempts (${read.fault}): take another model`,
          );
        }
        messages.push(
          { role: 'assistant', content: reply.content },
          {
            role: 'user',
            content: `That reply cannot be used: ${read.fault}. Reply again, with the JSON only.`,
          },
        );
      }
    },

    async chat({ messages, tools = [] }, work) {
      const { reply } = await ask({ messages, tools }, work);
      // What a model says travels in packets, which hold whole characters only.
      return { content: reply.content.toWellFormed(), toolCalls: reply.toolCalls, finish: reply.finish };
    },
  };
}

/** A reply that may be used, and whose it is. */
interface Asked {
  readonly reply: ModelReply & { readonly finish: Exclude<ModelReply['finish'], 'filtered'> };
  readonly place: ModelPlace;
}

/** Asks the primary model, or the fallback; counts what each reply took. */
function asker({ primary, fallback }: ModelPlaces, options: EngineOptions, settings: EngineSettings) {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, permits = processPermits, pace = realPace } = options;
  let primaryRestsUntilMs = Number.NEGATIVE_INFINITY;

  type Tried =
    | { readonly asked: Asked }
    | { readonly asked?: undefined; readonly fault: Fault; readonly error: MeshError };

  async function tryAt(
    place: ModelPlace,
    query: Omit<ModelQuery, 'model'>,
    work: EngineWork,
  ): Promise<Tried> {
    const { client, model, price } = place;
    const outcome = await chatPatiently(
      client,
      { ...query, model },
      { signal: work.signal, timeoutMs },
      { maxRetries: settings.max_retries, permits, pace, onNote: (note) => work.onNote?.(note) },
    );
    if (outcome.fault !== undefined) {
      const { fault, tries } = outcome;
      return { fault, error: explain(fault, client.server, model, tries) };
    }
    const { promptTokens, completionTokens, finish } = outcome.value;
    work.onExchange?.({ model, ...query, reply: outcome.value, promptTokens, completionTokens });
    work.countTokens(promptTokens + completionTokens);
    work.countUsage?.({
      model,
      promptTokens,
      completionTokens,
      costUsd: costUsd(price, promptTokens, completionTokens),
    });
    if (finish === 'filtered') {
      throw new MeshError(
        'engine',
        `${model} at ${client.server.url} refused to answer (content filter): rephrase the question, or take another model`,
      );
    }
    return { asked: { reply: { ...outcome.value, finish }, place } };
  }

  return async (query: Omit<ModelQuery, 'model'>, work: EngineWork): Promise<Asked> => {
    if (fallback === undefined) return onlyOf(await tryAt(primary, query, work));
    let before = 'the primary model is given a rest';
    if (pace.nowMs() >= primaryRestsUntilMs) {
      const tried = await tryAt(primary, query, work);
      if (tried.asked !== undefined) return tried.asked;
      if (remedyFor(tried.fault, primary.client.server) === 'nothing') throw tried.error;
      primaryRestsUntilMs = pace.nowMs() + PRIMARY_REST_MS;
      before = tried.error.message;
      work.onNote?.(`${before}; ${fallback.model} at ${fallback.client.server.url} continues`);
    }
    const tried = await tryAt(fallback, query, work);
    if (tried.asked !== undefined) return tried.asked;
    throw new MeshError('engine', `${tried.error.message}; before that: ${before}`, { cause: tried.error });
  };

  function onlyOf(tried: Tried): Asked {
    if (tried.asked === undefined) throw tried.error;
    return tried.asked;
  }
}
