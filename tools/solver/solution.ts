import type { JsonObject } from '../../core/packet.ts';
import type { Rounding } from './rounding.ts';

/** What is to be solved. */
export interface Problem {
  readonly question: string;
  /** Name of the attachment, as `list_files` writes it. */
  readonly file?: string;
  /** Text of a document, where the prompt has one. */
  readonly context?: string;
}

export type ProblemKind =
  | 'calculation'
  | 'program'
  | 'table'
  | 'document'
  | 'chess'
  | 'text-puzzle'
  | 'unknown';

export interface Solution {
  /** null: it cannot be done without a model, and `reasoning` says what is missing. */
  readonly answer: string | null;
  readonly kind: ProblemKind;
  /** The way to the answer in words, for a reasoning trace. */
  readonly reasoning: string;
  readonly steps: readonly SolutionStep[];
  /** 0 to 1, where the way to the answer has one: the reader's share of its candidates, else by how sure the rule is. */
  readonly confidence?: number;
}

/** A tool that was asked, and the beginning of what it said. */
export interface SolutionStep {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly result: string;
}

/** What a data tool replies: as {@link import('../data-tool.ts').DataToolReply}, or why it could not. */
export type ToolReply =
  | { readonly text: string; readonly data?: JsonObject }
  | { readonly error: { readonly code: string; readonly message: string } };

export type UseTool = (tool: string, args: JsonObject) => Promise<ToolReply>;

/** How a calculation is to be made, read off the question; what is `done` needed no tool. */
export type Reading = { readonly why: string; readonly round?: Rounding } & (
  | { readonly expression: string }
  | { readonly code: string }
  | { readonly done: string }
);
