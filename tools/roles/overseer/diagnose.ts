import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import * as z from 'zod';
import { cutPromptText } from '../conversation/conversation.ts';
import { gapRecordSchema } from '../memory/attempt.ts';
import { formatPlan, planSchema } from '../plan.ts';
import { createRoleTool } from '../role-tool.ts';
import { formatTrace, traceEntrySchema } from '../trace.ts';

/** Everything that is known about a failed attempt (OV-11). */
const diagnoseInput = z.object({
  question: z.string(),
  /** Null if there was none. */
  plan: planSchema.nullable(),
  attempt: z.array(traceEntrySchema),
  raw_answer: z.string(),
  answer: z.string(),
  truth: z.string(),
  resolution_type: z.string(),
});

const knownPoint = gapRecordSchema.shape.point.unwrap();

/** Accepts models' spellings with capitals, spaces or hyphens; a word of their own becomes `unknown`. */
const point = z.preprocess((given) => {
  const word =
    typeof given === 'string'
      ? given
          .trim()
          .toLowerCase()
          .replace(/[\s-]+/g, '_')
      : given;
  return knownPoint.options.find((known) => known === word) ?? 'unknown';
}, knownPoint);

export const diagnosisSchema = z.object({
  /** The point where the chain broke; later plans find the record by it. */
  point,
  /** The tool at that point; empty for none. */
  tool: z.string().max(100).default(''),
  diagnosis: z.string().min(1).max(8000),
});

/** Names the point where an attempt failed. It proposes no remedy: that is another role's task. */
export const diagnose: Tool = createRoleTool({
  name: 'diagnose',
  isSecret: true,
  description: 'names the exact point where a wrong attempt failed; proposes nothing',
  input: diagnoseInput,
  async run(input, work) {
    const { question, plan, attempt, raw_answer, answer, truth, resolution_type } = input;
    return work.perform({
      input,
      embedded: () => diagnosePlainly(input),
      prompt: 'diagnose',
      variables: () => ({
        question,
        plan: plan === null ? '' : formatPlan(plan),
        attempt: cutPromptText(formatTrace(attempt)),
        raw_answer: cutPromptText(raw_answer),
        answer,
        truth,
        resolution_type,
      }),
      reply: diagnosisSchema,
    });
  },
});

function diagnosePlainly({
  attempt,
  answer,
  truth,
  resolution_type,
}: z.infer<typeof diagnoseInput>): z.infer<typeof diagnosisSchema> {
  const last = attempt.findLast(({ kind }) => kind === 'tool');
  const hasFailed = last?.failed === true;
  const happened = hasFailed
    ? `${last?.tool} failed: ${last?.text}`
    : last === undefined
      ? 'the answer was given without asking any tool'
      : `${last.tool} replied, and the answer taken from its reply was another than the true one`;
  const isForm = resolution_type === 'format_error';
  return {
    point: isForm
      ? 'answer_form'
      : hasFailed
        ? 'tool_result'
        : last === undefined
          ? 'tool_choice'
          : 'reasoning',
    tool: last?.tool ?? '',
    diagnosis:
      `${resolution_type}: ${happened}. Answered: ${answer.slice(0, 500)}. True: ${truth.slice(0, 500)}.`.slice(
        0,
        8000,
      ),
  };
}

const abstractInput = z.object({
  /** The kind of the question's attachment. */
  question_type: z.string(),
  /** The planner's own type for it; empty without a plan. */
  planned_type: z.string(),
  /** Verbatim (OV-12). */
  diagnosis: z.string(),
  resolution_type: z.string(),
  point,
  tool: z.string(),
});

/** The lesson for later plans: a kind of failure, its cause and a remedy, without anything of the particular question (OV-17). */
export const gapSchema = z.object({
  /** The proposed change; all kinds except a planning hint wait for a person's approval (OV-19). */
  kind: gapRecordSchema.shape.kind,
  pattern: z.string().min(1).max(1000),
  cause: z.string().min(1).max(2000),
  advice: z.string().min(1).max(2000),
});

/** Turns a diagnosis into a lesson for other questions of the kind. It does not see the question itself. */
export const abstract: Tool = createRoleTool({
  name: 'abstract',
  isSecret: true,
  description: 'turns a diagnosis into a reusable record of a gap, with nothing of the question in it',
  input: abstractInput,
  async run(input, work) {
    return work.perform({
      input,
      embedded: () => describeGapPlainly(input),
      prompt: 'abstract',
      variables: () => ({ ...input }),
      reply: gapSchema,
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

/** Describes the gap without any word of the diagnosis, which names the answer. */
function describeGapPlainly({
  question_type,
  resolution_type,
  tool,
}: z.infer<typeof abstractInput>): z.infer<typeof gapSchema> {
  return {
    kind: 'planning_hint',
    pattern: `${resolution_type} at a ${question_type} question${tool === '' ? '' : `, at ${tool}`}`,
    cause: `without a model a ${question_type} question did not lead to the answer`,
    advice: ADVICE[resolution_type] ?? 'try another tool',
  };
}
