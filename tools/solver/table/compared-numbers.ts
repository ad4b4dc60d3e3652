import type { AskedCondition } from './asked-condition.ts';
import { type AskedWord, best, type Column, isNumeric, meaningMatch, nameMatch } from './columns.ts';
import { measureOf } from './measures.ts';

type Comparison = '<' | '<=' | '>' | '>=' | '=';

const NUMBER = String.raw`[$€£]?\s?(?<n>-?\d[\d,]*(?:\.\d+)?)(?:\s?%)?(?!\d)`;
const PHRASES: readonly (readonly [pattern: string, op: Comparison])[] = [
  [
    String.raw`\b(?:at least|no (?:less|fewer) than|not (?:less|fewer) than|a minimum of|minimum of|from|since)\s+`,
    '>=',
  ],
  [
    String.raw`\b(?:at most|no more than|not more than|a maximum of|maximum of|up to|until|not exceeding)\s+`,
    '<=',
  ],
  [
    String.raw`\b(?:more|greater|larger|higher|longer|taller|bigger|older|heavier|deeper|wider|faster|later|hotter|warmer|dearer|stronger) than\s+|\b(?:over|above|after|exceed(?:s|ed|ing)?|beyond|past)\s+|>\s*`,
    '>',
  ],
  [
    String.raw`\b(?:less|fewer|lower|smaller|shorter|younger|lighter|cheaper|earlier|slower|colder|narrower|shallower) than\s+|\b(?:under|below|before|prior to|beneath)\s+|<\s*`,
    '<',
  ],
  [String.raw`\b(?:exactly|equal(?:s|ling)? to|equals|precisely)\s+`, '='],
];
const POSTFIX: readonly (readonly [pattern: string, op: Comparison])[] = [
  [String.raw`\s+(?:[\p{L}]+\s+)?or (?:more|above|over|later|higher|longer|greater|after|older)\b`, '>='],
  [String.raw`\s+(?:[\p{L}]+\s+)?or (?:less|fewer|below|under|earlier|lower|shorter|before|younger)\b`, '<='],
];

interface Compared {
  readonly op: Comparison;
  readonly value: number;
  /** The other end of a range. */
  readonly until?: number;
  readonly start: number;
  readonly end: number;
  /** What leads the number: it may name the measure ("longer than"). */
  readonly lead: string;
}

/**
 * Conditions on numbers: "more than 40 crates", "between 3 and 5".
 *
 * @param taken what is understood already, so that its numbers are not read again
 * @returns undefined where no column is found for a number
 */
export function comparisons(
  text: string,
  words: readonly AskedWord[],
  columns: readonly Column[],
  taken: readonly AskedCondition[],
): AskedCondition[] | undefined {
  const conditions: AskedCondition[] = [];
  const isFree = ({ start, end }: { start: number; end: number }) =>
    [...conditions, ...taken].every((other) => end <= other.start || start >= other.end);
  for (const compared of [...ranges(text), ...compares(text)]) {
    if (!isFree(compared)) continue;
    const column = columnFor(compared, text, words, columns);
    if (column === undefined) return undefined;
    const { op, value, until, start, end } = compared;
    conditions.push({ column: column.name, op, values: [value], start, end });
    if (until !== undefined) conditions.push({ column: column.name, op: '<=', values: [until], start, end });
  }
  return conditions;
}

function compares(text: string): Compared[] {
  const found: Compared[] = [];
  for (const [lead, op] of PHRASES) {
    for (const match of text.matchAll(new RegExp(`(?<lead>${lead})${NUMBER}`, 'giu'))) {
      found.push({
        op,
        value: numberOf(match),
        start: match.index,
        end: match.index + match[0].length,
        lead: match.groups?.lead ?? '',
      });
    }
  }
  for (const [tail, op] of POSTFIX) {
    for (const match of text.matchAll(new RegExp(`${NUMBER}${tail}`, 'giu'))) {
      found.push({
        op,
        value: numberOf(match),
        start: match.index,
        end: match.index + match[0].length,
        lead: '',
      });
    }
  }
  // "not more than 5" holds "more than 5": the first phrase of the list counts.
  return found.filter((one, index) =>
    found.slice(0, index).every((other) => one.end <= other.start || one.start >= other.end),
  );
}

function ranges(text: string): Compared[] {
  const pattern =
    /\b(?:between|from)\s+[$€£]?(?<low>\d[\d,]*(?:\.\d+)?)[^\d,.;]{0,16}\s(?:and|to)\s+[$€£]?(?<high>\d[\d,]*(?:\.\d+)?)/giu;
  return [...text.matchAll(pattern)].map((match) => {
    const [low = 0, high = 0] = [match.groups?.low, match.groups?.high].map((digits) =>
      Number((digits ?? '').replaceAll(',', '')),
    );
    return {
      op: '>=',
      value: low,
      until: high,
      start: match.index,
      end: match.index + match[0].length,
      lead: '',
    };
  });
}

function numberOf(match: RegExpExecArray): number {
  return Number((match.groups?.n ?? '').replaceAll(',', ''));
}

/** By what leads the number, its unit or noun, then the name before it; else the only column of numbers. */
function columnFor(
  { start, end, lead, value }: Compared,
  text: string,
  words: readonly AskedWord[],
  columns: readonly Column[],
): Column | undefined {
  const numeric = columns.filter(isNumeric);
  const isYear = Number.isInteger(value) && value >= 1000 && value <= 2100;
  const years = numeric.filter(({ kind }) => kind === 'year');
  if (
    isYear &&
    years.length === 1 &&
    /\b(?:before|after|since|until|from|prior|later|earlier|between)\b|^$/i.test(lead)
  )
    return years[0];
  const comparative = /(\w+er) than/i.exec(lead)?.[1];
  const measure = comparative === undefined ? undefined : measureOf(comparative, 'er');
  const measured = numeric.find(({ words: own }) => measure?.names.some((name) => own.includes(name)));
  if (measured !== undefined) return measured;
  const following = words.filter((word) => word.start >= end).slice(0, 3);
  const before = words.filter((word) => word.end <= start).slice(-5);
  const unit = text.slice(end).trimStart().slice(0, 24).toLowerCase();
  const ofUnit = numeric.filter(({ unit: own }) => own !== undefined && sameUnit(own, unit));
  const byNoun = best(numeric, (column) => nameMatch(column, following.slice(0, 2)));
  const byName = best(ofUnit.length > 0 ? ofUnit : numeric, (column) => nameMatch(column, before));
  if (ofUnit.length === 1 && byName === undefined) return ofUnit[0];
  if (byNoun !== undefined && nameMatch(byNoun, following.slice(0, 2)) >= 0.9) return byNoun;
  return (
    byName ??
    byNoun ??
    best(ofUnit, (column) => nameMatch(column, words)) ??
    best(numeric, (column) => meaningMatch(column, [...before.slice(-3), ...following.slice(0, 1)])) ??
    (numeric.length === 1 ? numeric[0] : undefined)
  );
}

const UNIT_NAMES = new Map(
  Object.entries({
    m: /^(?:m\b|met(?:er|re)s?\b)/,
    km: /^(?:km\b|kilomet(?:er|re)s?\b)/,
    cm: /^(?:cm\b|centimet(?:er|re)s?\b)/,
    mm: /^(?:mm\b|millimet(?:er|re)s?\b)/,
    kg: /^(?:kgs?\b|kilos?\b|kilograms?\b)/,
    g: /^(?:g\b|grams?\b)/,
    t: /^(?:t\b|tonn?es?\b|tons?\b)/,
    l: /^(?:l\b|lit(?:er|re)s?\b)/,
    nmi: /^(?:nmi\b|nautical miles?\b)/,
    mi: /^(?:mi\b|miles?\b)/,
    min: /^(?:min\b|minutes?\b)/,
    h: /^(?:h\b|hours?\b|hrs?\b)/,
    s: /^(?:s\b|seconds?\b)/,
    eur: /^(?:€|eur\b|euros?\b)/,
    usd: /^(?:\$|usd\b|dollars?\b)/,
    '%': /^(?:%|percent\b|per cent\b)/,
    '°c': /^(?:°|degrees?\b|celsius\b)/,
  }),
);

function sameUnit(own: string, text: string): boolean {
  return text.startsWith(own)
    ? !/^\p{L}/u.test(text.slice(own.length))
    : (UNIT_NAMES.get(own)?.test(text) ?? false);
}
