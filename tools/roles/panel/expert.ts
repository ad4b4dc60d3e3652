import * as z from 'zod';
import type { Tool } from '../../../core/contracts/tool.ts';
import { answering } from '../answer/answering.ts';
import { promptText } from '../conversation/conversation.ts';
import { planSchema } from '../plan.ts';
import { roleTool } from '../role-tool.ts';
import { factLines, factSchema } from './fact.ts';

const expertInput = z.object({
  question: z.string(),
  file: z.string().exactOptional(),
  document: z.string(),
  plan: planSchema,
  facts: z.array(factSchema),
  feedback: z.string(),
});

/** Reasons and calculates, in numbered steps, from what the research found (REQ-015, REQ-023, REQ-056, REQ-057). */
export const expert: Tool = roleTool({
  name: 'expert',
  description: 'reasons and calculates from the facts that were found, and concludes',
  input: expertInput,
  run({ question, file, document, plan, facts, feedback }, work) {
    const known = facts.filter(({ found }) => found).map(({ fact }) => fact);
    return answering(
      work,
      {
        prompt: 'expert',
        variables: () => ({
          question,
          file: promptText(file),
          document: promptText(document),
          plan: JSON.stringify(plan, null, 2),
          facts: factLines(facts),
          feedback: promptText(feedback),
        }),
      },
      { question, file, document: [document, ...known].filter((part) => part !== '').join('\n\n') },
    );
  },
});
