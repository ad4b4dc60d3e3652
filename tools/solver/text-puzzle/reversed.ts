import type { Puzzle } from '../text-puzzle.ts';
import { knownShare } from './known-words.ts';

/** Fewer words may be names. */
const LEAST_WORDS = 3;

/** A sentence that is written backwards, as a whole or behind a few words that say where it was found. */
export function turnedText(question: string): Puzzle | undefined {
  const segments = [question, ...question.split(/(?<=[:\n])\s+|["“”]/)];
  for (const segment of segments) {
    const text = segment.trim();
    if ((text.match(/\p{L}+/gu)?.length ?? 0) < LEAST_WORDS) continue;
    for (const turned of [[...text].reverse().join(''), eachWordTurned(text)]) {
      if (knownShare(turned) >= 0.75 && knownShare(turned) > knownShare(text) + 0.3) {
        return { why: `Read backwards, it says: ${turned}`, question: turned };
      }
    }
  }
  return undefined;
}

/** The words are in order, their letters are not. */
function eachWordTurned(text: string): string {
  return text.replace(/[\p{L}\p{N}]+/gu, (word) => [...word].reverse().join(''));
}
