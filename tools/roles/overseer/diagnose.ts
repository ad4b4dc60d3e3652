import * as z from 'zod';
import type { Tool } from '../../../core/contracts/tool.ts';
import { promptText } from '../conversation/conversation.ts';
import { GAP_RECORD_KINDS } from '../memory/gap-record.ts';
import { planSchema } from '../plan.ts';
import { roleTool } from '../role-tool.ts';
import { traceEntrySchema, traceText } from '../trace.ts';

/** Everything there is to know about an attempt that failed (OV-11). */
const diagnoseInput = z.object({
  question: z.string(),
  /** Null where there was none. */
  plan: planSchema.nullable(),
  attempt: z.array(traceEntrySchema),
  raw_answer: z.string(),
  answer: z.string(),
  truth: z.string(),
  resolution_type: z.string(),
});

export const diagnosisSchema = z.object({
  /** Where the chain broke: planning, a tool, what a tool found, the reasoning, the form of the answer. */
  point: z.string().min(1).max(500),
  diagnosis: z.string().min(1).max(8000),
});

/** Names the point where an attempt went wrong. It proposes no remedy: that is another role's. */
export const diagnose: Tool = roleTool({
  name: 'diagnose',
  description: 'names the exact point where a wrong attempt failed; proposes nothing',
  input: diagnoseInput,
  async run(input, work) {
    const { question, plan, attempt, raw_answer, answer, truth, resolution_type } = input;
    return work.perform({
      input,
      embedded: () => diagnosisWithoutModel(input),
      model: {
        prompt: 'diagnose',
        variables: () => ({
          question,
          plan: plan === null ? '(none)' : JSON.stringify(plan, null, 2),
          attempt: promptText(traceText(attempt)),
          raw_answer: promptText(raw_answer),
          answer,
          truth,
          resolution_type,
        }),
        reply: diagnosisSchema,
        result: (reply) => diagnosisSchema.parse(reply),
      },
    });
  },
});

function diagnosisWithoutModel({
  attempt,
  answer,
  truth,
  resolution_type,
}: z.infer<typeof diagnoseInput>): z.infer<typeof diagnosisSchema> {
  const failed = attempt.filter((entry) => entry.failed === true);
  const [first] = failed;
  const last = attempt.findLast(({ kind }) => kind === 'tool');
  const point =
    first !== undefined
      ? `tool ${first.tool}`
      : last === undefined
        ? 'no tool was used'
        : `what was made of ${last.tool}`;
  const happened =
    first !== undefined
      ? `${first.tool} failed: ${first.text}`
      : last === undefined
        ? 'the answer was given without asking any tool'
        : `${last.tool} replied, and the answer taken from its reply was another than the true one`;
  return {
    point,
    diagnosis:
      `${resolution_type}: ${happened}. Answered: ${answer.slice(0, 500)}. True: ${truth.slice(0, 500)}.`.slice(
        0,
        8000,
      ),
  };
}

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
      embedded: () => gapWithoutModel(input),
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
function gapWithoutModel({
  question_type,
  resolution_type,
}: z.infer<typeof abstractInput>): z.infer<typeof gapSchema> {
  return {
    kind: 'planning_hint',
    pattern: `${resolution_type} at a ${question_type} question`,
    cause: `without a model a ${question_type} question did not lead to the answer`,
    advice: ADVICE[resolution_type] ?? 'try another tool',
  };
}
