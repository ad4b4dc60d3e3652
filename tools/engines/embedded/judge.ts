import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { cleanAnswer, hasStatedAnswer } from '../../answers/clean-answer.ts';
import { findCandidates } from './candidates.ts';
import { parseConversation } from './conversation.ts';
import { openFiles } from './open-files.ts';
import type { EmbeddedSettings } from './settings.ts';

const MAX_MARK = 10;
/** Matches the end of a text that was cut: part of a table would lead to a wrong verdict. */
const CUT = /… \[cut: \d+ characters in all\]$/;

/**
 * Replies as a critic to its prompt's variables: reads the document itself, and rates an answer by its probability relative to the most
 * probable one. Undefined if it cannot judge: the work states no answer, or there is nothing to read.
 */
export function judgeAnswer(
  variables: Readonly<Record<string, string>>,
  settings: EmbeddedSettings,
): JsonObject | undefined {
  const { work = '', document = '' } = variables;
  const answer = hasStatedAnswer(work) ? cleanAnswer(work) : null;
  if (answer === null || CUT.test(document)) return undefined;
  const parts = ['question', 'file', 'document'].map((name) => {
    return { kind: 'peer' as const, name, text: variables[name] ?? '' };
  });
  const inbound = parseConversation({ messages: [{ role: 'user', content: '', parts }] });
  const { matters } = openFiles(inbound);
  if (matters.length === 0) return undefined;
  const { candidates } = findCandidates(matters, inbound, { ...settings, threshold: 0 });
  const own = candidates.find((one) => (cleanAnswer(one.answer) ?? one.answer) === answer);
  const most = candidates[0]?.chance ?? 0;
  if (own === undefined || most === 0) return undefined;
  const chance = own.chance / most;
  const weaknesses = chance < 1 ? ['the document gives another answer that is more probable'] : [];
  const quality = Math.round(10 * MAX_MARK * chance) / 10;
  return { quality, relevance: MAX_MARK, missing: [], weaknesses, suggestions: [] };
}
