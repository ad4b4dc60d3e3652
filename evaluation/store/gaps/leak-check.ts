import type { Leak, Secrets } from '@gaia-mesh/tools/roles/memory/attempt-memory.ts';
import { findNames } from './question-names.ts';
import { hasPhrase, listReadings, splitWords, type Word } from './text-words.ts';

/** A longer answer is also found inside words ("Guatemala" in "Guatemalan"); a shorter one is inside too many of them. */
const MIN_INSIDE_CHARACTERS = 6;

/** Of an answer that is a list, items of this many characters count for themselves: shorter ones are in any text. */
const MIN_ITEM_CHARACTERS = 3;

/**
 * What `text` tells of the correct answer and of the question's names, numbers and quotations (OV-12, C-12); empty: nothing.
 * Case, accents, punctuation and the format of numbers make no difference. A guard for the store, not a proof: a paraphrase
 * passes it.
 */
export function findLeaks(text: string, { question, answers }: Secrets): Leak[] {
  const readings = listReadings(text).map(splitWords);
  const leaks: Leak[] = [];
  for (const answer of new Set(answers.flatMap(withItems))) {
    if (readings.some((words) => hasAnswer(words, answer))) leaks.push({ what: 'answer', text: answer });
  }
  for (const name of findNames(question)) {
    if (readings.some((words) => hasPhrase(words, name.words, name.isIn)))
      leaks.push({ what: 'name', text: name.text });
  }
  return leaks;
}

function withItems(answer: string): string[] {
  const items = answer.split(/[,;]/).map((item) => item.trim());
  return [answer, ...items.filter((item) => item.length >= MIN_ITEM_CHARACTERS && items.length > 1)];
}

function hasAnswer(words: readonly Word[], answer: string): boolean {
  return listReadings(answer).some((reading) => {
    const all = splitWords(reading);
    const sought = all.length > 1 && /^(a|an|the)$/.test(all[0]?.key ?? '') ? all.slice(1) : all;
    if (sought.length === 0) return false;
    const keys = sought.map(({ key }) => key);
    const squeezed = keys.join('');
    if (squeezed.length >= MIN_INSIDE_CHARACTERS && /\p{L}/u.test(squeezed)) {
      return words
        .map(({ key }) => key)
        .join('')
        .includes(squeezed);
    }
    // "A" as an answer is a letter to choose, and in a sentence an article: only a capital that no sentence begins with counts.
    const isArticle = squeezed === 'a' || squeezed === 'i';
    return hasPhrase(words, keys, isArticle ? 'capital inside a sentence' : 'anywhere');
  });
}
