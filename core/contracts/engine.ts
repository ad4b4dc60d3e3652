import type * as z from 'zod';
import type { JsonObject } from './packet.ts';
import type { PromptPart, TokenCounts } from './prompt-part.ts';
import type { Warning } from './warning.ts';

/**
 * Does a tool's thinking: the embedded reader, or a model on a server. An engine knows no tool: it receives a
 * {@link Step}, which holds both the embedded engine's implementation and the request for a model.
 */
export interface Engine {
  readonly name: string;
  /**
   * Source of the token counts: `model` (the server's own figures) or `embedded` (words and marks read and
   * written).
   */
  readonly tokenSource: 'model' | 'embedded';

  /** @throws MeshError `engine`, with what the user can do about it */
  perform<Result extends JsonObject>(step: Step<Result>, work: EngineWork): Promise<Result>;

  /**
   * Takes one turn of a conversation in which the engine may call tools. The embedded engine supports it,
   * too; an engine that only performs steps serves teams whose agents need no more.
   *
   * @throws MeshError `engine`, with what the user can do about it
   */
  readonly chat?: ((request: ChatRequest, work: EngineWork) => Promise<ChatTurn>) | undefined;
}

export interface EngineWork {
  readonly signal: AbortSignal;
  /** Task that the work belongs to, if the mesh asks for the work. */
  readonly taskId?: string;
  readonly countTokens: (count: number) => void;
  /** Receives the usage of each model reply, in addition to {@link EngineWork.countTokens}. */
  readonly countUsage?: (usage: ModelUsage) => void;
  /** Receives each whole exchange with a model, before {@link EngineWork.countUsage} is called. */
  readonly onExchange?: (exchange: ModelExchange) => void;
  /** Role of the caller as it appears in the usage, if the tool's name is not specific enough. */
  readonly role?: string;
  /** Receives one log line for each problem that was overcome, such as a retry or a fallback model. */
  readonly onNote?: (note: string) => void;
  /** Receives a warning for each part of a model server's reply that could not be read. */
  readonly onWarning?: (warning: Warning) => void;
}

/** Usage of one model reply, by the server's own figures; null for what the server did not report. */
export interface ModelUsage {
  readonly model: string;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  /** Part of the prompt that the server had cached and charges less for; present if the server reports it. */
  readonly cachedTokens?: number | undefined;
  /** US dollars; null if the model's price is unknown. */
  readonly costUsd: number | null;
}

/**
 * A message of a conversation. `parts` is set if the composition of the content is known: the texts of the
 * parts, concatenated, are the content.
 */
export type ChatMessage =
  | { readonly role: 'system'; readonly content: string; readonly parts?: readonly PromptPart[] }
  | {
      readonly role: 'user';
      readonly content: string;
      readonly images?: readonly ChatImage[] | undefined;
      readonly parts?: readonly PromptPart[];
    }
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly toolCalls?: readonly ToolCall[] | undefined;
    }
  | { readonly role: 'tool'; readonly toolCallId: string; readonly name: string; readonly content: string };

export interface ChatImage {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  readonly base64: string;
}

/** A tool as a model sees it. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments' object. */
  readonly parameters: JsonObject;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /**
   * Checked by the code that runs the tool; a string if the model wrote something that is not a JSON object.
   */
  readonly arguments: JsonObject | string;
}

export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[] | undefined;
}

export interface ChatTurn {
  /** Reply of the model without its reasoning, its template's marks, and calls that it wrote as text. */
  readonly content: string;
  /** Reasoning that preceded the reply, if the model shows it. It is not sent back to any model. */
  readonly reasoning?: string | undefined;
  readonly toolCalls: readonly ToolCall[];
  /** `refused`: there is no answer, and the content gives the reason. */
  readonly finish: 'stop' | 'length' | 'tool_calls' | 'refused';
  /** Probability that the answer is right, from 0 to 1, if the engine can estimate it. */
  readonly confidence?: number | undefined;
  /**
   * Advice for the user, set if the content is empty because the server put all words into the field for
   * reasoning. The model is not to blame.
   */
  readonly emptied?: string | undefined;
}

/** One piece of work that any engine can perform. */
export interface Step<Result extends JsonObject = JsonObject> {
  /** Validated input; the embedded engine counts its tokens. */
  readonly input: JsonObject;
  /** The embedded engine's implementation: pure and deterministic. */
  readonly embedded: () => Result;
  readonly model: ModelRequest<Result>;
}

export interface ModelRequest<Result extends JsonObject = JsonObject> {
  /** Name of the prompt, a file `config/prompts/<name>.md` with `{{variables}}`. */
  readonly prompt: string;
  /** Returns the texts of the variables; a function, because only a model needs them. */
  readonly variables: () => Readonly<Record<string, string>>;
  /** Schema of the model's reply, which servers can enforce. */
  readonly reply: z.ZodType;
  /** Turns a reply that fits the schema into the step's result. */
  readonly result: (reply: unknown) => Result;
}

/** One request to a model and its reply, as they were sent and received. */
export interface ModelExchange {
  /** `hashRequest` of the request as asked; less may have been sent if a server does not accept all of it. */
  readonly key: string;
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  /** JSON Schema that the reply had to match. */
  readonly schema?: JsonObject | undefined;
  readonly reply: ExchangeReply;
  /** The server's own figures; null if it reported none. */
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  /** The tokens of each part, if the server counted them by part. */
  readonly counts?: TokenCounts | undefined;
  /**
   * Start of the request and end of the reply by `monotonicUs`, including failed tries and the waits between
   * them.
   */
  readonly startedUs?: number | undefined;
  readonly endedUs?: number | undefined;
}

interface ExchangeReply {
  readonly content: string;
  readonly reasoning?: string | undefined;
  readonly toolCalls: readonly ToolCall[];
  /** `filtered`: the server refused to reply. */
  readonly finish: 'stop' | 'length' | 'tool_calls' | 'filtered';
}
