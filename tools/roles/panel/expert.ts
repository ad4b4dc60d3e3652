import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import * as z from 'zod';
import { factSchema, formatFacts } from '../../answers/fact.ts';
import { attachedShape, formatAttached } from '../attached.ts';
import { converse, cutPromptText } from '../conversation/conversation.ts';
import { formatPlan, planSchema } from '../plan.ts';
import { createRoleTool } from '../role-tool.ts';

const expertInput = z.object({
  question: z.string(),
  ...attachedShape,
  document: z.string(),
  plan: planSchema,
  facts: z.array(factSchema),
  /** The previous conclusion and the critic's remarks on it; empty the first time. */
  last: z.string(),
  feedback: z.string(),
});

/** Reasons and calculates in numbered steps from the results of the research (REQ-015, REQ-023, REQ-056, REQ-057). */
export const expert: Tool = createRoleTool({
  name: 'expert',
  description: 'reasons and calculates from the facts that were found, and concludes',
  input: expertInput,
  run(input, work) {
    const { question, document, plan, facts, last, feedback } = input;
    return converse(work, 'expert', {
      question,
      file: formatAttached(input),
      document: cutPromptText(document),
      plan: formatPlan(plan),
      facts: formatFacts(facts),
      last: cutPromptText(last),
      feedback,
    });
  },
});
