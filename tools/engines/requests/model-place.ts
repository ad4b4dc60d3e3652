import type { EngineOptions } from '../engine-options.ts';
import type { EngineSettings } from '../engine-settings.ts';
import type { Price } from '../prices.ts';
import type { ModelClient } from '../servers/model-client.ts';
import { createDemands, type Demands, type ToolCalls } from './demands.ts';
import { Summaries } from './summaries.ts';
import { Window } from './window.ts';

/** One model at one place, and what is known of it by now. */
export interface ModelEndpoint {
  readonly client: ModelClient;
  readonly model: string;
  readonly price: Price | undefined;
  readonly window: Window;
  readonly summaries: Summaries;
  readonly toolCalls: ToolCalls;
  /** By the word of its server; undefined where it says nothing. */
  readonly seesPictures: () => Promise<boolean | undefined>;
  /** What the server took in the end. */
  accepted: Demands;
}

export interface ModelEndpoints {
  readonly primary: ModelEndpoint;
  /** Continues where the primary cannot be had, with the same conversation and tools (RA-23). */
  readonly fallback: ModelEndpoint | undefined;
}

/** Where an engine's models are, by its settings. */
export function resolveModelPlaces(
  options: EngineOptions,
  settings: EngineSettings,
  by: {
    readonly defaultModel: string;
    readonly clientAt: (host: string | undefined) => ModelClient;
    readonly presetPrice: (model: string) => Price | undefined;
    /** Tokens of the context, where the engine sets them itself. */
    readonly context?: number;
  },
): ModelEndpoints {
  const { fallback_model, fallback_base_url, tool_calls: toolCalls, context = by.context } = settings;
  const abilities = askOnce(options.askAbilities);
  const place = (
    client: ModelClient,
    model: string,
    price: Price | undefined,
    isPrimary: boolean,
  ): ModelEndpoint => ({
    client,
    model,
    price: price ?? by.presetPrice(model),
    window: new Window(
      context,
      isPrimary ? async () => (await abilities())?.contextTokens ?? undefined : undefined,
    ),
    summaries: new Summaries(),
    toolCalls,
    seesPictures: async () => (isPrimary ? ((await abilities())?.vision ?? undefined) : undefined),
    accepted: createDemands(toolCalls),
  });
  const model = options.model ?? by.defaultModel;
  const client = by.clientAt(options.host);
  const hasFallback = fallback_model !== undefined || fallback_base_url !== undefined;
  return {
    primary: place(client, model, settings.price, true),
    fallback: hasFallback
      ? place(
          fallback_base_url === undefined ? client : by.clientAt(fallback_base_url),
          fallback_model ?? model,
          settings.fallback_price,
          false,
        )
      : undefined,
  };
}

/** Asks at most once. */
function askOnce<Said>(ask: (() => Promise<Said>) | undefined): () => Promise<Said | undefined> {
  let said: Promise<Said> | undefined;
  return async () => {
    said ??= ask?.();
    return said;
  };
}
