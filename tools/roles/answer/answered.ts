import * as z from 'zod';
import { NO_ANSWER } from '../../answers/answer-format.ts';
import { cleanAnswer } from '../../answers/clean-answer.ts';
import type { Conclusion } from '../role-tool.ts';

/**
 * The reply of a role that answers. `handed_on`: the text holds findings for another role; `limit`: it is the best answer when
 * the turns or the time were used up; `gave_up`: there is no answer, and the text gives the reason; `cut_off`: there is none because
 * the time was used up.
 */
export const answeredSchema = z.object({
  text: z.string(),
  ended: z.enum(['answer', 'handed_on', 'limit', 'gave_up', 'cut_off']),
  /** The probability that the answer is right, if the engine gives one. */
  confidence: z.number().min(0).max(1).exactOptional(),
});

export type Answered = z.infer<typeof answeredSchema>;

/**
 * Extracts the answer of a role from the text around it (SV-17, SV-18, OV-07). Every team's answer is cleaned alike, and
 * the question's wording has no influence.
 */
export function conclude({ text, ended, confidence }: Answered): Conclusion {
  // The text of a role that gave up is its reason and no answer.
  const cleaned = ended === 'gave_up' || ended === 'cut_off' ? null : cleanAnswer(text);
  return {
    answer: cleaned ?? NO_ANSWER,
    raw: text,
    confidence: cleaned === null ? undefined : confidence,
    isCutOff: ended === 'cut_off',
  };
}
