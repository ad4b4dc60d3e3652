import type { TeamReply } from '../../batch/teams/team-reply.ts';
import type { Question } from '../../questions/question.ts';
import { isToolStep, splitSteps } from './trace-steps.ts';

/**
 * Kinds of questions that such teams are known to be weak at (OV-47). A wrong or failed answer is filed under the first that fits,
 * so that a score can be read; `other` is everything else.
 */
export type KnownGap = 'proprietary_api' | 'web_archive' | 'image_only' | 'multi_hop' | 'other';

export const KNOWN_GAPS: readonly KnownGap[] = [
  'proprietary_api',
  'web_archive',
  'image_only',
  'multi_hop',
  'other',
];

/** From so many tool calls on a chain is deep, and nothing in it was checked on the way if no critic was asked. */
const DEEP_CHAIN_CALLS = 5;

const NO_KEY = /\b(API[ _-]?key|[A-Z]+_(API_)?(KEY|TOKEN)|unauthori[sz]ed|HTTP 40[13])\b/;
const ARCHIVE = /\b(web\.archive\.org|archive\.org|wayback|archived? (page|version|copy|snapshot))\b/i;
const CRITIC = /critic|critique/i;

/** A rule of thumb over what is known of the attempt; nobody reads the question for it. */
export function guessKnownGap(question: Question, reply: TeamReply): KnownGap {
  const calls = splitSteps(reply.reasoningTrace).filter(isToolStep);
  const failed = calls.filter((step) => /^[^\n]*\}\) failed: /.test(step));
  if (NO_KEY.test(reply.reason ?? '') || failed.some((step) => NO_KEY.test(step))) return 'proprietary_api';
  if (ARCHIVE.test(question.question) || calls.some((step) => ARCHIVE.test(step))) return 'web_archive';
  if (question.category === 'image' || question.category === 'video') return 'image_only';
  const asked = reply.toolCalls.reduce((sum, { count }) => sum + count, 0);
  const isChecked = reply.usage.some(({ role }) => CRITIC.test(role));
  return asked >= DEEP_CHAIN_CALLS && !isChecked ? 'multi_hop' : 'other';
}
