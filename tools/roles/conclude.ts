import { cleanAnswer } from '../solver/clean-answer.ts';
import { fitFormat } from '../solver/fit-format.ts';
import type { Answered } from './answering.ts';
import type { Conclusion } from './role-tool.ts';

/** What stands for an answer where none was found: an answer is never empty (RA-12), and this one counts as wrong. */
export const NO_ANSWER = 'No answer was found.';

/** The answer of a role, cleaned and in the form that the question asks for (SV-18, RA-11, OV-07). */
export function conclude(question: string, answered: Answered): Conclusion {
  const { answer, raw } = relay(answered);
  return { answer: answer === NO_ANSWER ? answer : fitFormat(question, answer), raw };
}

/** The answer of a role as it gave it, without what stands around it (SV-17, SV-18). */
export function relay({ text, ended }: Answered): Conclusion {
  // Who gave up says why, which is no answer.
  const cleaned = ended === 'gave_up' || ended === 'cut_off' ? null : cleanAnswer(text);
  return { answer: cleaned ?? NO_ANSWER, raw: text };
}
