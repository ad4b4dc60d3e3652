import * as z from 'zod';

/**
 * Kinds of parts of a prompt, by which each of its tokens is on one line of the token ledger:
 *
 * | kind | meaning |
 * |---|---|
 * | `system` | the system message, which gives the model its role |
 * | `tools` | definitions of the tools that it may call |
 * | `question` | the question of the task |
 * | `file` | a document, or the text of a file that was read before the model was asked |
 * | `peer` | text of another agent or role: a plan, facts, criticism, an answer |
 * | `tool_result` | a tool’s reply to a call |
 * | `history` | the model’s own texts and calls from earlier turns of the conversation |
 * | `retry` | the reason why an earlier reply could not be used |
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

/** Maximum parts of one exchange whose tokens are kept: a conversation of thirty turns has some hundred. */
const MAX_COUNTED_PARTS = 10_000;

/**
 * Tokens of one exchange by part, counted with its own tokenizer by a server that knows the parts. Equal texts have the same
 * `digest`, which identifies parts that a model reads again.
 */
export const tokenCountsSchema = z.object({
  parts: z
    .array(
      z.object({ kind: z.enum(PROMPT_KINDS), tokens: z.int().nonnegative(), digest: z.string().max(24) }),
    )
    .max(MAX_COUNTED_PARTS),
  completion: z.object({
    answer: z.int().nonnegative(),
    reasoning: z.int().nonnegative(),
    tool_calls: z.int().nonnegative(),
  }),
});
export type TokenCounts = z.infer<typeof tokenCountsSchema>;

/** Returns the content of a message that says why a reply could not be used. */
export function asRetry(text: string): { readonly content: string; readonly parts: readonly PromptPart[] } {
  return { content: text, parts: [{ kind: 'retry', text }] };
}
