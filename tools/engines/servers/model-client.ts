import type { ChatMessage, ChatTurn, ToolCall, ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';

/**
 * A client for one kind of model server: it translates a query into the server's format and the reply back, once, without retries. Each
 * kind has a file; everything that they have in common is in `model-engine.ts`.
 */
export interface ModelClient {
  readonly server: ModelServer;
  /**
   * @param send bounded in time; the only way to send requests. The client bounds what it reads of the reply
   * @throws errors of the client library, which `exchange.ts` interprets
   */
  chat(query: ModelQuery, send: typeof globalThis.fetch): Promise<ModelReply>;
}

export interface ModelQuery {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  /** JSON Schema of the object that the reply's content must be. */
  readonly schema?: JsonObject;
  /** The form in which the schema is demanded; except for `schema`, the messages contain it. */
  readonly reply: 'schema' | 'json' | 'text';
  /** Parts that the server has refused. */
  readonly omits: readonly Omittable[];
}

/** Parts of a request that some servers do not accept and that can be left out. */
export type Omittable = 'temperature' | 'tool_choice' | 'stream_options' | 'stream' | 'cache_control';

export interface ModelReply {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: Exclude<ChatTurn['finish'], 'refused'> | 'filtered';
  /** Thoughts of a reasoning model, if the server separates them from the content. */
  readonly thoughts?: string | undefined;
  /** The server's own figures; null for those that it leaves out. */
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  /** Prompt tokens that came from the server's cache, and those written into it at their own price. */
  readonly cachedTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
  /** The parts of it that could not be read, each with the reason. */
  readonly lost: readonly string[];
}

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
  /** Returns true if the same request may succeed later. */
  readonly isTransient: (status: number) => boolean;
  readonly advice: {
    readonly start: string;
    readonly busy: string;
    readonly key: string;
    readonly longPrompt: string;
    readonly cutReply: string;
    /** The way to get words into the content that stood in the field for thoughts. */
    readonly onlyThoughts: string;
    readonly missingModel: (model: string) => string;
  };
}
