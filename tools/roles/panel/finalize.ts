import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import * as z from 'zod';
import { ANSWER_FORMAT } from '../../answers/answer-format.ts';
import { cleanAnswer, findNonAnswer, hasStatedAnswer } from '../../answers/clean-answer.ts';
import { factSchema, formatFacts } from '../../answers/fact.ts';
import { buildOpening, cutPromptText } from '../conversation/conversation.ts';
import { formatPlan, planSchema } from '../plan.ts';
import { createRoleTool } from '../role-tool.ts';

const finalizeInput = z.object({
  question: z.string(),
  plan: planSchema,
  facts: z.array(factSchema),
  conclusion: z.string(),
});

/** Writes the answer in the required form, from the work of all the others (REQ-017, REQ-039, REQ-040). */
export const finalize: Tool = createRoleTool({
  name: 'finalize',
  description: 'writes the final answer in the form that is asked for',
  input: finalizeInput,
  async run({ question, plan, facts, conclusion }, work) {
    const { content, finish } = await work.chat({
      messages: buildOpening(work, 'finalize', {
        question,
        plan: formatPlan(plan),
        facts: formatFacts(facts),
        conclusion: cutPromptText(conclusion),
        answer_format: ANSWER_FORMAT,
      }),
    });
    // It is asked once: a reply without an answer must not lose the one that the expert stated (REQ-065, REQ-069g).
    const isLost =
      finish === 'refused' ||
      cleanAnswer(content) === null ||
      findNonAnswer(content) !== undefined ||
      (!hasStatedAnswer(content) && hasStatedAnswer(conclusion));
    if (isLost) work.note('the finalizer gave no answer: the expert’s stands');
    else work.result(content.trim());
    return { text: isLost ? conclusion : content.trim() };
  },
});
