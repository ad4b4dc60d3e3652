import { wordRow } from '../../reader/vectors.ts';

/** The share of words that the reader knows, 0 to 1; it knows 25,000 of English. Words of one letter but "a" and "i" count as unknown. */
export function knownShare(text: string): number {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  if (words.length === 0) return 0;
  const known = words.filter((word) =>
    word.length > 1 ? wordRow(word) >= 0 || FUNCTION_WORDS.has(word) : word === 'a' || word === 'i',
  );
  return known.length / words.length;
}

/** The reader's table has words that carry meaning; these carry grammar. */
const FUNCTION_WORDS = new Set(
  (
    'the a an of in on at by for to from with as and or but if is are was were be been am do does did has have had can could will would ' +
    'shall should may might must not no that this these those it its he she they we you i me my your his her our their what which who whom ' +
    'when where why how there here then than so up out off over under into onto about after before all any both each few more most other some such'
  ).split(' '),
);
