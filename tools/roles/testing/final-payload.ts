import { usageSchema } from '@gaia-mesh/core/contracts/usage.ts';
import type { TaskOutcome } from '@gaia-mesh/core/hub/tasks/task-clock.ts';
import * as z from 'zod';

const finalSchema = z.looseObject({
  answer: z.string(),
  raw_answer: z.string(),
  reasoning_trace: z.string(),
  usage: z.array(usageSchema),
  tool_calls: z.array(z.object({ tool: z.string(), count: z.number(), failed: z.number() })),
  failed_role: z.string().optional(),
  details: z.record(z.string(), z.json()).default({}),
});

/** Returns the checked payload of the final packet; a failed task fails the test with its reason. */
export function finalOf({ status, reason, final }: TaskOutcome): z.infer<typeof finalSchema> {
  if (status !== 'answered') throw new Error(`${status}: ${reason}`);
  return finalSchema.parse(final);
}
