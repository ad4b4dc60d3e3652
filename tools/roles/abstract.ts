import * as z from 'zod';
import type { Tool } from '../../core/tool.ts';
import { GAP_RECORD_KINDS } from '../../store/gap-record.ts';
import { roleTool } from './role-tool.ts';

const abstractInput = z.object({
  question_type: z.string(),
  /** Word for word (OV-12). */
  diagnosis: z.string(),
  resolution_type: z.string(),
});

/** What is kept for later plans: a kind of failure, why it happens, what to do otherwise; nothing of the one question (OV-17). */
export const gapSchema = z.object({
  /** What it proposes to change; all but a planning hint waits for a person (OV-19). */
  kind: z.enum(GAP_RECORD_KINDS),
  pattern: z.string().min(1).max(1000),
  cause: z.string().min(1).max(2000),
  advice: z.string().min(1).max(2000),
});

/** Turns a diagnosis into something that helps with other questions of the kind. It has not seen the question itself. */
export const abstract: Tool = roleTool({
  name: 'abstract',
  description: 'turns a diagnosis into a reusable record of a gap, with nothing of the question in it',
  input: abstractInput,
  async run(input, work) {
    return work.perform({
      input,
      embedded: () => gapByRules(input),
      model: {
        prompt: 'abstract',
        variables: () => ({ ...input }),
        reply: gapSchema,
        result: (reply) => gapSchema.parse(reply),
      },
    });
  },
});

const ADVICE: Readonly<Record<string, string>> = {
  format_error: 'read again in which form the answer is asked for, and give that form only',
  retrieval_failure:
    'have a second source ready for when the first one fails, and check the file’s kind before reading it',
  tool_limit: 'plan fewer steps, and the decisive one first',
  reasoning_gap:
    'state what each number means before combining them, and check the result against the question',
};

/** Not a word of the diagnosis goes in: it names the answer. */
function gapByRules({
  question_type,
  resolution_type,
}: z.infer<typeof abstractInput>): z.infer<typeof gapSchema> {
  return {
    kind: 'planning_hint',
    pattern: `${resolution_type} at a ${question_type} question`,
    cause: `the rules for ${question_type} questions did not lead to the answer`,
    advice: ADVICE[resolution_type] ?? 'try another tool',
  };
}
