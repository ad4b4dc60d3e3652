import * as z from 'zod';
import type { Tool } from '../../../core/contracts/tool.ts';
import { answering } from '../answer/answering.ts';
import { promptText } from '../conversation/conversation.ts';
import { planSchema } from '../plan.ts';
import { roleTool } from '../role-tool.ts';

const executeInput = z.object({
  question: z.string(),
  file: z.string().exactOptional(),
  plan: planSchema,
  /** It answers within this time, with the best that it has then; without it, when it is done. */
  time_s: z.number().positive().exactOptional(),
});

/** Works a plan out with all the tools there are, and departs from it where the results ask for it (OV-04, OV-06). */
export const execute: Tool = roleTool({
  name: 'execute',
  description: 'carries out a plan with every tool of the team, and answers the question',
  input: executeInput,
  run({ question, file, plan, time_s }, work) {
    if (time_s !== undefined) work.limitTo(time_s);
    return answering(
      work,
      {
        prompt: 'execute',
        variables: () => ({ question, file: promptText(file), plan: JSON.stringify(plan, null, 2) }),
      },
      { question, file },
    );
  },
});
