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
  const text = given.replace(/(?<![\d/.])(\d+)\/([1-9]\d*)(?![\d/])/g, (_, over: string, under: string) =>
    String(Number(over) / Number(under)),
  );
  if (!/\bhow (?:many|much)\b|\bwhat (?:is|was|will be) the (?:total|cost|price)\b/i.test(text))
    return undefined;
  const numbers = [...text.matchAll(/(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\s*(?:%|percent))/g)].map((match) =>
    match[0].replaceAll(',', ''),
  );
  const counts = numbers.filter((number) => number !== '1');
  if (counts.length < 2 || counts.length > 3) return undefined;
  // Three numbers are understood in one way only: so much for so many, and another number of them.
  if (counts.length === 3) return proportional(text);
  return each(text) ?? proportional(text) ?? shared(text, counts) ?? rated(text, counts);
}

const VERB =
  'needs?|gets?|has|have|costs?|weighs?|holds?|takes?|uses?|receives?|eats?|drinks?|wants?|buys?|makes?|pays?|contains?|produces?|lays?|brings?|carries|carry|plants?|reads?';

/** "24 students … each needs 3 notebooks. How many notebooks": both are multiplied. */
function each(text: string): Reading | undefined {
  const match = new RegExp(
    `(?<count>\\d[\\d,]*)\\s+${WORD}.{0,60}?\\beach(?:\\s+of\\s+\\w+)?(?:\\s+${WORD})?\\s+(?:${VERB})\\s+[$€£]?(?<each>\\d[\\d,]*(?:\\.\\d+)?)(?:\\s+(?<thing>${WORD}))?`,
    'iu',
  ).exec(text);
  const { count, each: own, thing } = match?.groups ?? {};
  if (count === undefined || own === undefined) return undefined;
  const asks =
    thing === undefined
      ? /\bhow much\b/i.test(text)
      : new RegExp(`\\bhow many (?:${WORD}\\s+){0,2}?${singular(thing.toLowerCase())}`, 'iu').test(text);
  return asks
    ? {
        why: 'So much for each is multiplied by how many there are.',
        expression: `${plain(count)} * ${plain(own)}`,
      }
    : undefined;
}

/** "8 pencils cost $2.40: how much does one cost", or twelve. */
function proportional(text: string): Reading | undefined {
  const match = new RegExp(
    `(?<many>\\d[\\d,]*)\\s+(?:${WORD}\\s+){0,2}?(?<thing>${WORD})\\s+(?:${VERB})\\s+[$€£]?(?<sum>\\d[\\d,]*(?:\\.\\d+)?)`,
    'iu',
  ).exec(text);
  const { many, thing, sum } = match?.groups ?? {};
  if (match === null || many === undefined || thing === undefined || sum === undefined) return undefined;
  const rest = text.slice(match.index + match[0].length);
  const asked = new RegExp(
    `\\bhow (?:much|many)\\b.*?\\b(?<wanted>\\d[\\d,]*|an?|each|a single|per)\\s+(?:${WORD}\\s+)?${singular(thing.toLowerCase())}`,
    'iu',
  ).exec(rest)?.groups?.wanted;
  if (asked === undefined) return undefined;
  const times = /^\d/.test(asked) ? plain(asked) : '1';
  return {
    why: 'What one of them comes to is multiplied by how many are asked for.',
    expression: `${plain(sum)} / ${plain(many)} * ${times}`,
  };
}

/** "Six friends share a bill of $138 equally." */
function shared(text: string, counts: readonly string[]): Reading | undefined {
  if (
    !/\b(?:shar|split|divid|distribut)\w*\b/i.test(text) ||
    !/\b(?:equally|evenly|in equal (?:parts|shares)|among|the same)\b/i.test(text) ||
    !/\beach\b|\bper\b|\bevery\b|\bone\b/i.test(text)
  )
    return undefined;
  const money = /[$€£]\s?(\d[\d,]*(?:\.\d+)?)/.exec(text)?.[1];
  const total = money === undefined ? String(Math.max(...counts.map(Number))) : plain(money);
  const among = counts.find((count) => Number(count) !== Number(total));
  return among === undefined
    ? undefined
    : { why: 'The whole is divided by how many share it.', expression: `${total} / ${among}` };
}

function rated(text: string, counts: readonly string[]): Reading | undefined {
  for (const pattern of RATES) {
    for (const { groups } of text.matchAll(pattern)) {
      const own = groups?.each?.replaceAll(',', '');
      const thing = groups?.thing?.toLowerCase();
      const count = counts.find((number) => number !== own) ?? counts[1];
      if (own === undefined || thing === undefined || count === undefined || !counts.includes(own)) continue;
      if (new RegExp(`^(?:${VERB})$`).test(thing)) continue;
      const isCounted = new RegExp(`${escaped(count)}\\s+(?:${WORD}\\s+){0,2}?${singular(thing)}`, 'iu').test(
        text.replaceAll(',', ''),
      );
      const isAsked = new RegExp(`\\bhow many (?:${WORD}\\s+){0,2}?${singular(thing)}`, 'iu').test(text);
      if (isCounted && !isAsked)
        return {
          why: 'So much for each is multiplied by how many there are.',
          expression: `${own} * ${count}`,
        };
      if (isAsked && !isCounted)
        return { why: 'The total is divided by so much for each.', expression: `${count} / ${own}` };
    }
  }
  return undefined;
}

function plain(number: string): string {
  return number.replaceAll(',', '');
}

/** A pattern for both numbers of a noun. */
function singular(noun: string): string {
  if (noun === 'person' || noun === 'people') return '(?:person|people)';
  const stem = noun
    .replace(/(?:ves|fe?)$/, '')
    .replace(/ies$|y$/, '')
    .replace(/(?:(?<=s|x|sh|ch)es|s)$/, '');
  return `${escaped(stem)}\\p{L}{0,3}\\b`;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
