import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import * as z from 'zod';
import { ANSWER_FORMAT } from '../../answers/answer-format.ts';
import { cleanAnswer, statesAnswer } from '../../answers/clean-answer.ts';
import { factLines, factSchema } from '../../answers/fact.ts';
import { opening, promptText } from '../conversation/conversation.ts';
import { planSchema, planText } from '../plan.ts';
import { roleTool } from '../role-tool.ts';

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
    const { content, finish } = await work.chat({
      messages: opening(work, 'finalize', {
        question,
        plan: planText(plan),
        facts: factLines(facts),
        conclusion: promptText(conclusion),
        answer_format: ANSWER_FORMAT,
      }),
    });
    // It is asked once: a reply that states no answer must not lose the one that the expert stated (REQ-065, REQ-069g).
    const isLost =
      finish === 'refused' ||
      cleanAnswer(content) === null ||
      (!statesAnswer(content) && statesAnswer(conclusion));
    if (isLost) work.note('the finalizer gave no answer: the expert’s stands');
    else work.result(content.trim());
    return { text: isLost ? conclusion : content.trim() };
  },
});
