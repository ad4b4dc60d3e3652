import type * as z from 'zod';
import type { JsonObject } from './packet.ts';
import type { PromptPart } from './prompt-part.ts';

/**
 * What does a tool's thinking: the embedded reader, or a model on a server. An engine knows no tool: it is handed a
 * {@link Step}, which says both how the embedded engine does it and what a model would be asked.
 */
export interface Engine {
  readonly name: string;
  /** Who counted the tokens: `model` (the server's own figures) or `embedded` (words and marks read and written). */
  readonly tokenSource: 'model' | 'embedded';

  /** @throws MeshError `engine`, with what the user can do about it */
  perform<Result extends JsonObject>(step: Step<Result>, work: EngineWork): Promise<Result>;

  /**
   * One turn of a conversation, in which the engine may call tools. The embedded engine has it, too; one that does steps alone serves
   * teams whose agents ask for no more.
   *
   * @throws MeshError `engine`, with what the user can do about it
   */
  readonly chat?: (request: ChatRequest, work: EngineWork) => Promise<ChatTurn>;
}

export interface EngineWork {
  readonly signal: AbortSignal;
  /** What it is for, where the mesh asks. */
  readonly taskId?: string;
  readonly countTokens: (count: number) => void;
  /** Hears of each reply of a model, beside {@link EngineWork.countTokens}. */
  readonly countUsage?: (usage: ModelUsage) => void;
  /** Hears of each exchange with a model as a whole, before {@link EngineWork.countUsage} does. */
  readonly onExchange?: (exchange: ModelExchange) => void;
  /** Who asks, as the usage says it, where the name of the tool does not say enough. */
  readonly role?: string;
  /** Hears what went wrong and was got over: a retry, a fallback model. One line, for the log. */
  readonly onNote?: (note: string) => void;
}

/** What one reply of a model took, by the server's own figures; null is what the server did not say. */
export interface ModelUsage {
  readonly model: string;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  /** Of the prompt, what the server had read before and charges less for; there where it says so. */
  readonly cachedTokens?: number;
  /** US dollars; null where the model's price is not known. */
  readonly costUsd: number | null;
}

/** `parts`, where it is known what the content is made of: their texts, one after the other, are the content. */
export type ChatMessage =
  | { readonly role: 'system'; readonly content: string; readonly parts?: readonly PromptPart[] }
  | {
      readonly role: 'user';
      readonly content: string;
      readonly images?: readonly ChatImage[];
      readonly parts?: readonly PromptPart[];
    }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls?: readonly ToolCall[] }
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
  /** Checked by whoever runs the tool; a text where the model wrote something that is no JSON object. */
  readonly arguments: JsonObject | string;
}

export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[];
}

export interface ChatTurn {
  /** What the model said: without its thoughts, without marks of its template, and without calls that it wrote as text. */
  readonly content: string;
  /** What a reasoning model thought before, where it shows it. It goes back to no model. */
  readonly reasoning?: string;
  readonly toolCalls: readonly ToolCall[];
  /** `refused`: there is no answer, and the content says why. */
  readonly finish: 'stop' | 'length' | 'tool_calls' | 'refused';
  /** How probable it is that the answer is right, from 0 to 1, where the engine can say it. */
  readonly confidence?: number;
}

/** One piece of work, for whichever engine there is. */
export interface Step<Result extends JsonObject = JsonObject> {
  /** What goes in, already checked; the embedded engine counts its tokens. */
  readonly input: JsonObject;
  /** How the embedded engine does it: pure and deterministic. */
  readonly embedded: () => Result;
  readonly model: ModelRequest<Result>;
}

export interface ModelRequest<Result extends JsonObject = JsonObject> {
  /** Name of the prompt, a file `config/prompts/<name>.md` with `{{variables}}`. */
  readonly prompt: string;
  /** Their texts; a function, because only a model needs them. */
  readonly variables: () => Readonly<Record<string, string>>;
  /** What the model must reply, as a schema that servers can enforce. */
  readonly reply: z.ZodType;
  /** Turns a reply that fits the schema into the step's result. */
  readonly result: (reply: unknown) => Result;
}

/** One request to a model and its reply, as it was sent and as it came. */
export interface ModelExchange {
  /** Of what was asked for, `hashRequest`; what was sent may be less, where a server does not take all of it. */
  readonly key: string;
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  /** JSON Schema that the reply had to fit. */
  readonly schema?: JsonObject | undefined;
  readonly reply: ExchangeReply;
  /** The server's own figures; null where it gave none. */
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  /** When it was asked and when the reply was whole, by `monotonicUs`, tries that failed and waits between them included. */
  readonly startedUs?: number | undefined;
  readonly endedUs?: number | undefined;
}

interface ExchangeReply {
  readonly content: string;
  readonly reasoning?: string | undefined;
  readonly toolCalls: readonly ToolCall[];
  /** `filtered`: the server refused. */
  readonly finish: 'stop' | 'length' | 'tool_calls' | 'filtered';
}
