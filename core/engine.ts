import type * as z from 'zod';
import type { JsonObject } from './packet.ts';

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
}

export interface EngineWork {
  readonly signal: AbortSignal;
  readonly countTokens: (count: number) => void;
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
