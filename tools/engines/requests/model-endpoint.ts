import { joinUrl } from '@gaia-mesh/core/system/outgoing-url.ts';
import { formatForeignJson, parseExactJson } from '@gaia-mesh/core/system/parse-json.ts';
import type * as z from 'zod';
import type { ModelCapabilities } from '../capabilities.ts';
import type { EngineOptions } from '../engine-options.ts';
import { type EngineSettings, parseEngineSettings } from '../engine-settings.ts';
import { type ExchangeLimits, exchange, type Outcome } from '../http/exchange.ts';
import { explain, type ModelServer } from '../http/fault.ts';
import type { ModelFormat, ModelQuery } from '../model-format.ts';
import { findPresetPrice, type Price } from '../prices.ts';
import { type ModelReply, readWholeText, receiveReply, type ServerReply } from '../replies/server-reply.ts';
import {
  type Environment,
  findServerKey,
  requireKey,
  resolveServerUrl,
  type ServerKind,
} from '../server-kind.ts';
import { Summaries, Window } from './window.ts';

/** The features of a server that a request uses. Servers of one format differ in those that they support. */
export interface Demands extends Pick<ModelQuery, 'reply' | 'omits'> {
  /** The form of tools: the server's own, or text. */
  readonly tools: 'native' | 'text';
}

/** One model on one server, and what is known about it so far. */
export interface ModelEndpoint {
  readonly server: ModelServer;
  /** Sends a query once. @throws MeshError `usage` if the server requires a key and there is none */
  chat(query: ModelQuery, limits: ExchangeLimits): Promise<Outcome<ModelReply>>;
  readonly model: string;
  readonly price: Price | undefined;
  readonly window: Window;
  readonly summaries: Summaries;
  readonly toolCalls: EngineSettings['tool_calls'];
  /** The server's statement; undefined if it makes none. */
  readonly seesPictures: () => Promise<boolean | undefined>;
  /** The demands that the server accepted last; undefined before the first reply. */
  accepted: Demands | undefined;
}

interface ModelEndpoints {
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
  const ownContext = contextOption === undefined ? undefined : Number(modelOptions[contextOption]);
  const { fallback_model, fallback_base_url, tool_calls: toolCalls, context = ownContext } = settings;
  const createEndpoint = (
    host: string | undefined,
    model: string,
    price: Price | undefined,
    askCapabilities?: EngineOptions['askCapabilities'],
  ): ModelEndpoint => {
    const server = describeServer(kind, format, { host, environment, contextTokens: ownContext });
    const { url, key } = server;
    const capabilities = askOnce(askCapabilities);
    return {
      server,
      async chat(query, limits) {
        requireKey(kind, url, key);
        const request = {
          url: joinUrl(url, format.path),
          headers: format.buildHeaders?.(key),
          body: formatForeignJson(format.buildBody(query, modelOptions)),
        };
        const { framing, member } = format;
        const open = (reply: ServerReply) => format.openReply(reply, query);
        return exchange(server, request, limits, (response) =>
          receiveReply(response, { framing, member, open }),
        );
      },
      model,
      price: price ?? (kind.isFree ? { prompt: 0, completion: 0 } : findPresetPrice(model)),
      window: new Window(context, async () => (await capabilities())?.contextTokens ?? undefined),
      summaries: new Summaries(),
      toolCalls,
      seesPictures: async () => (await capabilities())?.vision ?? undefined,
      accepted: undefined,
    };
  };
  const { host, model = kind.defaultModel, askCapabilities } = options;
  const hasFallback = fallback_model !== undefined || fallback_base_url !== undefined;
  return {
    settings,
    primary: createEndpoint(host, model, settings.price, askCapabilities),
    fallback: hasFallback
      ? createEndpoint(fallback_base_url ?? host, fallback_model ?? model, settings.fallback_price)
      : undefined,
  };
}

interface ServerPlace {
  readonly host: string | undefined;
  readonly environment: Environment;
  /** The size of the context in requests, if the engine sets it. */
  readonly contextTokens?: number | undefined;
}

/** Describes a server for messages. @throws MeshError `usage`, `config` for a URL or a key that cannot be used */
function describeServer(
  kind: ServerKind,
  { maker, buildAdvice }: ModelFormat,
  { host, environment, contextTokens }: ServerPlace,
): ModelServer {
  const url = resolveServerUrl(kind, host, environment);
  const key = findServerKey(kind, url, environment);
  const advice = buildAdvice({ url, keyVariable: kind.key?.variable, contextTokens });
  return { url, name: `${kind.label} server`, maker, key, advice };
}

/** Wraps `ask` so that it is called at most once. */
function askOnce<Said>(ask: (() => Promise<Said>) | undefined): () => Promise<Said | undefined> {
  let said: Promise<Said> | undefined;
  return async () => {
    said ??= ask?.();
    return said;
  };
}

/** Time limit of a query: it takes a server no time, but one that works on a prompt may be late. */
const ASK_TIMEOUT_MS = 5_000;

/**
 * Asks a server what it says about a model; servers of one kind differ in what they report.
 *
 * @throws MeshError `engine` if there is no server, or if it refuses the key
 */
export async function queryServer(
  kind: ServerKind,
  format: ModelFormat,
  { model, ...place }: ServerPlace & { readonly model: string },
): Promise<ModelCapabilities> {
  const server = describeServer(kind, format, place);
  const { url, key } = server;
  const limits = { signal: new AbortController().signal, timeoutMs: ASK_TIMEOUT_MS };

  async function ask<Reply>(at: URL, schema: z.ZodType<Reply>, body?: object): Promise<Reply | undefined> {
    const request = {
      url: at,
      headers: { Accept: 'application/json', ...format.buildHeaders?.(key) },
      body: body === undefined ? undefined : JSON.stringify(body),
    };
    const outcome = await exchange(server, request, limits, async (response) =>
      schema.parse(parseExactJson(await readWholeText(response))),
    );
    if (outcome.fault === undefined) return outcome.value;
    const { fault } = outcome;
    // A server that refuses the key would refuse every question, too.
    if (fault.kind === 'status' && (fault.status === 401 || fault.status === 403))
      throw explain(fault, server, undefined, 1);
    // The server is there but does not report it.
    if (fault.kind === 'status' || fault.kind === 'foreign' || fault.kind === 'unusable') return undefined;
    throw explain(fault, server, undefined, 1);
  }

  return {
    model,
    url,
    isThere: null,
    chats: null,
    tools: null,
    vision: null,
    thinking: null,
    schemas: null,
    contextTokens: null,
    others: [],
    ...(await format.queryCapabilities({ url, model, ask })),
  };
}
