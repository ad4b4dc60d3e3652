/**
 * What a part of a prompt is, so that each of its tokens is on one line of the token ledger:
 *
 * | kind | what it is |
 * |---|---|
 * | `system` | the system message: who the model is to be |
 * | `tools` | definitions of the tools that it may call |
 * | `question` | the question of the task |
 * | `file` | a document, or what was read of a file before the model was asked |
 * | `peer` | what another agent or role said: a plan, facts, criticism, an answer |
 * | `tool_result` | what a tool replied to a call |
 * | `history` | what the model itself said and called in earlier turns of the conversation |
 * | `retry` | why an earlier reply could not be used |
 * | `structure` | the words of the prompt around all of these, and the marks between messages |
 */
export const PROMPT_KINDS = [
  'system',
  'tools',
  'question',
  'file',
  'peer',
  'tool_result',
  'history',
  'retry',
  'structure',
] as const;
export type PromptKind = (typeof PROMPT_KINDS)[number];

/** A part of a message; the message's content is the texts of its parts, concatenated. */
export interface PromptPart {
  readonly kind: PromptKind;
  readonly text: string;
  /** Name of the prompt variable that it came from, if any. */
  readonly name?: string;
}

/** Returns the content of a message that says why a reply could not be used. */
export function asRetry(text: string): { readonly content: string; readonly parts: readonly PromptPart[] } {
  return { content: text, parts: [{ kind: 'retry', text }] };
}
