import type { ChatMessage, ChatTurn, ToolCall, ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';

/**
 * A server of models: turns a query into the server's format and its reply back, once, with no retry of its own. One file a
 * server; everything that servers have in common is in `model-engine.ts`.
 */
export interface ModelClient {
  readonly server: ModelServer;
  /** How its replies are read while they come. */
  readonly readBody: ReadBody;

  /**
   * @param fetch bounded in time and size; the only way out
   * @throws whatever the client library does: `exchange.ts` tells what it means
   */
  chat(query: ModelQuery, fetch: typeof globalThis.fetch): Promise<ModelReply>;
}

/** @throws when the body is too long or is not what such a server sends */
export type ReadBody = (response: Response) => Promise<Response>;

export interface ModelQuery {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  /** JSON Schema of the object that the reply's content must be. */
  readonly schema?: JsonObject;
  /** How the server is to hold the model to the schema; where it is not by `schema`, the messages say it. */
  readonly reply: 'schema' | 'json' | 'text';
  /** Parts that the server refused before. */
  readonly omits: readonly Omittable[];
}

/** Parts of a request that some servers do not take, and that can be done without. */
export type Omittable = 'temperature' | 'tool_choice' | 'stream_options' | 'stream' | 'cache_control';

export interface ModelReply {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: Exclude<ChatTurn['finish'], 'refused'> | 'filtered';
  /** What a reasoning model thought, where the server takes it out of the content. */
  readonly thoughts?: string;
  /** By the server's own figures; null for what it leaves out. */
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  /** Of the prompt, what came from the server's cache, and what was written into it for a price of its own. */
  readonly cachedTokens?: number;
  readonly cacheWriteTokens?: number;
}

/** A server as messages speak of it, and what its users can do. */
export interface ModelServer {
  /** What permits are counted by, and where messages say that it is. */
  readonly url: string;
  /** As in "the … at http://…": `Ollama server`. */
  readonly name: string;
  /** Whose format it is. */
  readonly maker: string;
  /** Is never repeated, whoever writes it into an answer. */
  readonly key: string | undefined;
  /** Whether the same request may be answered if it is sent again. */
  readonly isTransient: (status: number) => boolean;
  readonly advice: {
    readonly start: string;
    readonly busy: string;
    readonly key: string;
    readonly longPrompt: string;
    readonly cutReply: string;
    readonly missingModel: (model: string) => string;
  };
}
