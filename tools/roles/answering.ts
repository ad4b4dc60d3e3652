import * as z from 'zod';
import { answerByRules, type RuleProblem } from './by-rules.ts';
import { converse } from './conversation.ts';
import type { RoleWork } from './role-work.ts';

/**
 * What a role that answers replies. `handed_on`: what it found is for others to go on with; `limit`: the best that it had when
 * its turns, or its time, were used up; `gave_up`: there is no answer, and the text says why; `cut_off`: there is none since its time
 * was used up.
 */
export const answeredSchema = z.object({
  text: z.string(),
  ended: z.enum(['answer', 'handed_on', 'limit', 'gave_up', 'cut_off']),
});

export type Answered = z.infer<typeof answeredSchema>;

/** Answers with the model, in a loop that begins with prompt `prompt`, or by rules where there is no model. */
export async function answering(
  work: RoleWork,
  {
    prompt,
    variables,
    problem,
  }: {
    readonly prompt: string;
    readonly variables: () => Readonly<Record<string, string>>;
    readonly problem: RuleProblem;
  },
): Promise<Answered> {
  if (!work.hasModel) return answerByRules(work, problem);
  const { text, ended } = await converse(work, prompt, variables());
  return { text, ended };
}
