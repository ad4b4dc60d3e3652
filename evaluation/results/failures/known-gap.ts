import type { Attempt } from '../../attempts/attempt.ts';
import type { Question } from '../../questions/question.ts';
import { isToolStep, splitSteps } from './trace-steps.ts';

/**
 * Kinds of questions at which such teams are known to be weak (OV-47). A wrong or failed answer counts under the first kind that
 * fits, to explain a score; `other` is everything else.
 */
export type KnownGap = NonNullable<Attempt['gap']>;

/** Tool calls from which a chain counts as deep. Without a critic, nothing in it was checked on the way. */
const DEEP_CHAIN_CALLS = 5;

const NO_KEY = /\b(API[ _-]?key|[A-Z]+_(API_)?(KEY|TOKEN)|unauthori[sz]ed|HTTP 40[13])\b/;
const ARCHIVE = /\b(web\.archive\.org|archive\.org|wayback|archived? (page|version|copy|snapshot))\b/i;
const CRITIC = /critic|critique/i;

/** Guesses the kind of a wrong answer by rules of thumb; the question itself is not understood. */
export function guessKnownGap(
  question: Question,
  { reasoning_trace, reason = '', tool_calls, usage }: Attempt,
): KnownGap {
  const calls = splitSteps(reasoning_trace).filter(isToolStep);
  const failed = calls.filter((step) => /^[^\n]*\}\) failed: /.test(step));
  if (NO_KEY.test(reason) || failed.some((step) => NO_KEY.test(step))) return 'proprietary_api';
  if (ARCHIVE.test(question.question) || calls.some((step) => ARCHIVE.test(step))) return 'web_archive';
  if (question.category === 'image' || question.category === 'video') return 'image_only';
  const asked = tool_calls.reduce((sum, { count }) => sum + count, 0);
  const isChecked = usage.some(({ role }) => CRITIC.test(role));
  return asked >= DEEP_CHAIN_CALLS && !isChecked ? 'multi_hop' : 'other';
}
