import type { Reading } from '../solution.ts';

const NUMBER = String.raw`[$€£]?\s?(?<NAME>\d[\d,]*(?:\.\d+)?)`;
const WORD = String.raw`[\p{L}][\p{L}’'-]*`;

/** Something for each of a kind: `4.50 for each ticket`, `3 eggs per cake`, `2 cups for one loaf`, `each box holds 12`. */
const RATES = [
  `${NUMBER}\\s*(?:${WORD}\\s+){0,6}?(?:per|for each|for every|for 1|for a single|in each|in every|in 1|on each|on every|apiece for|to each|to every|each|every)\\s+(?<thing>${WORD})`,
  `\\b(?:each|every|1|a single|an?)\\s+(?<thing>${WORD})(?:\\s+${WORD}){0,2}?\\s+(?:cost|costs|holds?|contains?|takes?|weighs?|needs?|uses?|sells for|has|have|gets?|makes?|seats?|feeds?|carries|earns?|is sold for|is)\\s+(?:exactly |only |just )?${NUMBER}`,
].map((pattern) => new RegExp(pattern.replace('<NAME>', '<each>'), 'giu'));

/**
 * So much for one, how much for many, and the other way round: a multiplication or a division by a count of the same thing. Only
 * where the question has these two numbers and no third, since a third changes what is asked.
 *
 * @param given the question with its numbers in figures
 */
export function readUnitRate(given: string): Reading | undefined {
  const text = given.replace(/(?<![\d/.])(\d+)\/([1-9]\d*)(?![\d/])/g, (_, over: string, under: string) => String(Number(over) / Number(under)));
  if (!/\bhow (?:many|much)\b|\bwhat (?:is|was|will be) the (?:total|cost|price)\b/i.test(text)) return undefined;
  const numbers = [...text.matchAll(/(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\s*(?:%|percent))/g)].map((match) => match[0].replaceAll(',', ''));
  const counts = numbers.filter((number) => number !== '1');
  if (counts.length !== 2) return undefined;
  for (const pattern of RATES) {
    for (const { groups } of text.matchAll(pattern)) {
      const each = groups?.each?.replaceAll(',', '');
      const thing = groups?.thing?.toLowerCase();
      const count = counts.find((number) => number !== each) ?? counts[1];
      if (each === undefined || thing === undefined || count === undefined || !counts.includes(each)) continue;
      const isCounted = new RegExp(`${escaped(count)}\\s+(?:${WORD}\\s+){0,2}?${singular(thing)}`, 'iu').test(text.replaceAll(',', ''));
      const isAsked = new RegExp(`\\bhow many (?:${WORD}\\s+){0,2}?${singular(thing)}`, 'iu').test(text);
      if (isCounted && !isAsked) return { why: 'So much for each is multiplied by how many there are.', expression: `${each} * ${count}` };
      if (isAsked && !isCounted) return { why: 'The total is divided by so much for each.', expression: `${count} / ${each}` };
    }
  }
  return undefined;
}

/** A pattern for both numbers of a noun. */
function singular(noun: string): string {
  if (noun === 'person' || noun === 'people') return '(?:person|people)';
  const stem = noun.replace(/(?:ves|fe?)$/, '').replace(/ies$|y$/, '').replace(/(?:(?<=s|x|sh|ch)es|s)$/, '');
  return `${escaped(stem)}\\p{L}{0,3}\\b`;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
