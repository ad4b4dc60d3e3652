import type { ChatMessage, ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type * as z from 'zod';
import type { CapabilityQuery, ModelCapabilities } from './capabilities.ts';
import type { ModelServer } from './http/fault.ts';
import type { ModelReply, ServerReply } from './replies/server-reply.ts';

/**
 * The format of one kind of model server: it translates a query into a request and the reply back, once, without retries. Each
 * format has a file; everything that they have in common is in `model-engine.ts`.
 */
export interface ModelFormat {
  /** The name before "'s format" in messages: `OpenAI`. */
  readonly maker: string;
  /** The model's known options with their defaults; others are passed through. */
  readonly options: z.ZodType<ModelOptions>;
  /** Parts of the request that users must not set. */
  readonly reserved?: readonly string[];
  /** The model's option for the size of the context, if the engine sets it itself. */
  readonly contextOption?: string;
  /** The path below the server's URL that queries are sent to. */
  readonly path: string;
  readonly buildHeaders?: (key: string | undefined) => Readonly<Record<string, string>>;
  /** Builds the body of a request. It is streamed if possible, so that silence can be told from work. */
  readonly buildBody: (query: ModelQuery, options: ModelOptions) => object;
  /** The framing of streams that are not server-sent events: a JSON value a line. */
  readonly framing?: 'lines';
  /** The member that each whole reply has, and each line of a streamed one but the last. */
  readonly member: string;
  /** Begins to read a reply; `receiveReply` receives its parts and handles every way in which a reply can break off. */
  readonly openReply: (reply: ServerReply, query: ModelQuery) => ReplyParts;
  /** Queries what the server says about a model. */
  readonly queryCapabilities: (query: CapabilityQuery) => Promise<Partial<ModelCapabilities>>;
  readonly buildAdvice: (server: AdvisedServer) => ModelServer['advice'];
}

/** The parts of one reply: events or lines of a stream, or the whole JSON. */
interface ReplyParts {
  add(part: JsonObject): void;
  /** Returns the reply after its last part. */
  end(): ModelReply;
}

export type ModelOptions = Readonly<Record<string, unknown>>;

interface AdvisedServer {
  readonly url: string;
  /** The variable that holds its key, if servers of its kind have one. */
  readonly keyVariable: string | undefined;
  /** The size of the context in requests, if the engine sets it. */
  readonly contextTokens: number | undefined;
}

export interface ModelQuery {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  /** JSON Schema of the object that the reply's content must be. */
  readonly schema?: JsonObject;
  /** The form in which the schema is demanded: enforced by the server, as JSON, or in words alone. The last two have it in the messages. */
  readonly reply: 'schema' | 'json' | 'text';
  /** Parts that the server has refused. */
  readonly omits: readonly (typeof OMITTABLE)[number][];
}

/** Parts of a request that some servers do not accept and that can be left out; longer names come first. */
export const OMITTABLE = ['temperature', 'tool_choice', 'stream_options', 'cache_control', 'stream'] as const;
