import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import * as z from 'zod';
import { attachedShape, formatAttached } from '../attached.ts';
import { converse } from '../conversation/conversation.ts';
import { formatPlan, planSchema } from '../plan.ts';
import { createRoleTool } from '../role-tool.ts';

const executeInput = z.object({
  question: z.string(),
  ...attachedShape,
  plan: planSchema,
});

/** Carries out a plan with all the tools of the team, and departs from it if the results call for that (OV-04, OV-06). */
export const execute: Tool = createRoleTool({
  name: 'execute',
  description: 'carries out a plan with every tool of the team, and answers the question',
  input: executeInput,
  run(input, work) {
    const { question, plan } = input;
    return converse(work, 'execute', { question, file: formatAttached(input), plan: formatPlan(plan) });
  },
});
