import * as z from 'zod';
import type { Conclusion } from '../role-tool.ts';
import { cleanAnswer } from './clean-answer.ts';
import { NO_ANSWER } from './no-answer.ts';

/** What the benchmark itself asks of every answer (Mialon et al., GAIA, arXiv 2311.12983; SV-16). Prompts have it as {{answer_format}}. */
export const ANSWER_FORMAT = `Report your thoughts, and finish your answer with the following template: FINAL ANSWER: [YOUR FINAL ANSWER]. YOUR FINAL ANSWER should be a number OR as few words as possible OR a comma separated list of numbers and/or strings. If you are asked for a number, don't use comma to write your number neither use units such as $ or percent sign unless specified otherwise. If you are asked for a string, don't use articles, neither abbreviations (e.g. for cities), and write the digits in plain text unless specified otherwise. If you are asked for a comma separated list, apply the above rules depending of whether the element to be put in the list is a number or a string.`;

/** What stands before an answer in a text that goes on to somebody. */
export const FINAL_ANSWER_PREFIX = 'FINAL ANSWER: ';

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
