import * as z from 'zod';
import type { Tool } from '../../core/tool.ts';
import { promptText } from './conversation.ts';
import { planSchema } from './plan.ts';
import { roleTool } from './role-tool.ts';
import { traceEntrySchema, traceText } from './trace.ts';

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
      embedded: () => diagnosisByRules(input),
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

function diagnosisByRules({
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
