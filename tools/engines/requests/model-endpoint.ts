import { joinUrl } from '@gaia-mesh/core/system/outgoing-url.ts';
import { formatForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import type { EngineOptions } from '../engine-options.ts';
import { type EngineSettings, parseEngineSettings } from '../engine-settings.ts';
import { type ExchangeLimits, exchange, type Outcome } from '../http/exchange.ts';
import type { ModelFormat, ModelOptions, ModelQuery, ModelReply, ModelServer } from '../model-format.ts';
import { FREE, findPresetPrice, type Price } from '../prices.ts';
import { findServerKey, requireKey, resolveServerUrl, type ServerKind } from '../server-kind.ts';
import { createDemands, type Demands, type ToolCalls } from './demands.ts';
import { Summaries } from './summaries.ts';
import { Window } from './window.ts';

/** A server with the options that its model gets. */
export interface ModelClient {
  readonly server: ModelServer;
  /** Sends a query once. @throws MeshError `usage` if the server requires a key and there is none */
  chat(query: ModelQuery, limits: ExchangeLimits): Promise<Outcome<ModelReply>>;
}

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

/**
 * Resolves the endpoints of an engine's models.
 *
 * @param name the engine's name, for messages
 * @throws MeshError `usage` for options that no server could take
 */
export function resolveModelEndpoints(
  name: string,
  kind: ServerKind,
  format: ModelFormat,
  options: EngineOptions,
): ModelEndpoints & { readonly settings: EngineSettings } {
  const { environment = process.env, options: given = {} } = options;
  const { contextOption, reserved } = format;
  const sized =
    contextOption === undefined || given.context === undefined
      ? given
      : { [contextOption]: given.context, ...given };
  const { settings, model: modelOptions } = parseEngineSettings(name, sized, format.options, reserved);
  const contextTokens = readContext(modelOptions, contextOption);
  const { fallback_model, fallback_base_url, tool_calls: toolCalls, context = contextTokens } = settings;
  const abilities = askOnce(options.askAbilities);
  const createClientAt = (host: string | undefined) => {
    const url = resolveServerUrl(kind, host, environment);
    const server = describeServer(kind, format, {
      url,
      key: findServerKey(kind, url, environment),
      contextTokens,
    });
    return createClient(kind, format, server, modelOptions);
  };
  const createEndpoint = (
    client: ModelClient,
    model: string,
    price: Price | undefined,
    isPrimary: boolean,
  ): ModelEndpoint => ({
    client,
    model,
    price: price ?? (kind.isFree ? FREE : findPresetPrice(model)),
    window: new Window(
      context,
      isPrimary ? async () => (await abilities())?.contextTokens ?? undefined : undefined,
    ),
    summaries: new Summaries(),
    toolCalls,
    seesPictures: async () => (isPrimary ? ((await abilities())?.vision ?? undefined) : undefined),
    accepted: createDemands(toolCalls),
  });
  const model = options.model ?? kind.defaultModel;
  const client = createClientAt(options.host);
  const hasFallback = fallback_model !== undefined || fallback_base_url !== undefined;
  return {
    settings,
    primary: createEndpoint(client, model, settings.price, true),
    fallback: hasFallback
      ? createEndpoint(
          fallback_base_url === undefined ? client : createClientAt(fallback_base_url),
          fallback_model ?? model,
          settings.fallback_price,
          false,
        )
      : undefined,
  };
}

function readContext(options: ModelOptions, name: string | undefined): number | undefined {
  const tokens = name === undefined ? undefined : options[name];
  return typeof tokens === 'number' ? tokens : undefined;
}

function createClient(
  kind: ServerKind,
  format: ModelFormat,
  server: ModelServer,
  options: ModelOptions,
): ModelClient {
  const { url, key } = server;
  const { path, buildHeaders, buildBody, readReply } = format;
  return {
    server,
    async chat(query, limits) {
      requireKey(kind, url, key);
      const request = {
        url: joinUrl(url, path),
        headers: buildHeaders?.(key),
        body: formatForeignJson(buildBody(query, options)),
      };
      return exchange(server, request, limits, (response) => readReply(response, query));
    },
  };
}

/** Describes a server for messages. */
export function describeServer(
  { label, key }: ServerKind,
  { maker, isTransient, buildAdvice }: ModelFormat,
  facts: Pick<ModelServer, 'url' | 'key'> & { readonly contextTokens?: number | undefined },
): ModelServer {
  const { url, contextTokens } = facts;
  return {
    url,
    name: `${label} server`,
    maker,
    key: facts.key,
    isTransient,
    advice: buildAdvice({ url, keyVariable: key?.variable, contextTokens }),
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
