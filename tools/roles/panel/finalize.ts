import * as z from 'zod';
import type { Tool } from '../../../core/contracts/tool.ts';
import { ANSWER_FORMAT } from '../answer/answered.ts';
import { cleanAnswer } from '../answer/clean-answer.ts';
import { opening, promptText } from '../conversation/conversation.ts';
import { planSchema, planText } from '../plan.ts';
import { roleTool } from '../role-tool.ts';
import { factLines, factSchema } from './fact.ts';

const finalizeInput = z.object({
  question: z.string(),
  plan: planSchema,
  facts: z.array(factSchema),
  conclusion: z.string(),
});

/** Writes the answer in the form that the question asks for, from everything the others did (REQ-017, REQ-039, REQ-040). */
export const finalize: Tool = roleTool({
  name: 'finalize',
  description: 'writes the final answer in the form that is asked for',
  input: finalizeInput,
  async run({ question, plan, facts, conclusion }, work) {
    if (!work.hasModel) return { text: conclusion };
    const { content } = await work.chat({
      messages: opening(work, 'finalize', {
        question,
        plan: planText(plan),
        facts: factLines(facts),
        conclusion: promptText(conclusion),
        answer_format: ANSWER_FORMAT,
      }),
    });
    // It is asked once: a reply without an answer must not lose what the expert concluded (REQ-065, REQ-069g).
    const isEmpty = cleanAnswer(content) === null;
    if (isEmpty) work.note('the finalizer gave no answer: the expert’s stands');
    else work.result(content.trim());
    return { text: isEmpty ? conclusion : content.trim() };
  },
});
