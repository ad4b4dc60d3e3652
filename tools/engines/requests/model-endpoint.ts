import type { EngineOptions } from '../engine-options.ts';
import type { EngineSettings } from '../engine-settings.ts';
import type { Price } from '../prices.ts';
import type { ModelClient } from '../servers/model-client.ts';
import { createDemands, type Demands, type ToolCalls } from './demands.ts';
import { Summaries } from './summaries.ts';
import { Window } from './window.ts';

/** One model on one server, and what is known about it so far. */
export interface ModelEndpoint {
  readonly client: ModelClient;
  readonly model: string;
  readonly price: Price | undefined;
  readonly window: Window;
  readonly summaries: Summaries;
  readonly toolCalls: ToolCalls;
  /** The server's statement; undefined if it makes none. */
  readonly seesPictures: () => Promise<boolean | undefined>;
  /** The demands that the server accepted last. */
  accepted: Demands;
}

export interface ModelEndpoints {
  readonly primary: ModelEndpoint;
  /** Continues with the same conversation and tools if the primary is unavailable (RA-23). */
  readonly fallback: ModelEndpoint | undefined;
}

/** Resolves the endpoints of an engine's models from its settings. */
export function resolveModelEndpoints(
  options: EngineOptions,
  settings: EngineSettings,
  by: {
    readonly defaultModel: string;
    readonly createClient: (host: string | undefined) => ModelClient;
    readonly presetPrice: (model: string) => Price | undefined;
    /** Tokens of the context, if the engine sets them itself. */
    readonly context?: number;
  },
): ModelEndpoints {
  const { fallback_model, fallback_base_url, tool_calls: toolCalls, context = by.context } = settings;
  const abilities = askOnce(options.askAbilities);
  const createEndpoint = (
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
  const client = by.createClient(options.host);
  const hasFallback = fallback_model !== undefined || fallback_base_url !== undefined;
  return {
    primary: createEndpoint(client, model, settings.price, true),
    fallback: hasFallback
      ? createEndpoint(
          fallback_base_url === undefined ? client : by.createClient(fallback_base_url),
          fallback_model ?? model,
          settings.fallback_price,
          false,
        )
      : undefined,
  };
}

/** Wraps `ask` so that it is called at most once. */
function askOnce<Said>(ask: (() => Promise<Said>) | undefined): () => Promise<Said | undefined> {
  let said: Promise<Said> | undefined;
  return async () => {
    said ??= ask?.();
    return said;
  };
}
