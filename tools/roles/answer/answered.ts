import * as z from 'zod';
import { NO_ANSWER } from '../../answers/answer-format.ts';
import { cleanAnswer } from '../../answers/clean-answer.ts';
import type { Conclusion } from '../role-tool.ts';

/**
 * What a role that answers replies. `handed_on`: what it found is for others to go on with; `limit`: the best that it had when
 * its turns, or its time, were used up; `gave_up`: there is no answer, and the text says why; `cut_off`: there is none since its time
 * was used up.
 */
export const answeredSchema = z.object({
  text: z.string(),
  ended: z.enum(['answer', 'handed_on', 'limit', 'gave_up', 'cut_off']),
  /** How probable it is that the answer is right, where the engine says it. */
  confidence: z.number().min(0).max(1).exactOptional(),
});

export type Answered = z.infer<typeof answeredSchema>;

/**
 * The answer of a role as it gave it, without what stands around it (SV-17, SV-18, OV-07). Every team's answer is cleaned alike, and
 * the question's wording plays no part in it.
 */
export function conclude({ text, ended, confidence }: Answered): Conclusion {
  // A role that gave up says why, which is no answer.
  const cleaned = ended === 'gave_up' || ended === 'cut_off' ? null : cleanAnswer(text);
  return {
    answer: cleaned ?? NO_ANSWER,
    raw: text,
    ...(cleaned === null || confidence === undefined ? {} : { confidence }),
    ...(ended === 'cut_off' ? { isCutOff: true } : {}),
  };
}
