import type { ChatMessage, ChatTurn, ToolCall, ToolDefinition } from '../../../core/contracts/engine.ts';
import type { JsonObject } from '../../../core/contracts/packet.ts';

/**
 * A server of models: turns a query into the server's format and its reply back, once, with no retry of its own. One file a
 * server; everything that servers have in common is in `model-engine.ts`.
 */
export interface ModelClient {
  readonly server: ModelServer;
  /** How its replies are read: whole, or as a stream of lines. */
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
  /** JSON Schema of the object that the reply's content must be; the server holds the model to it where it can. */
  readonly schema?: JsonObject;
}

export interface ModelReply {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: ChatTurn['finish'] | 'filtered';
  /** By the server's own figures; what it leaves out counts as 0. */
  readonly promptTokens: number;
  readonly completionTokens: number;
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
