import { type CalendarDate, foundDates, foundMonths, isoDate } from '../dates.ts';
import { isStopWord } from '../../reader/words.ts';
import { type AskedWord, type Column, isNumeric, meaningMatch, nameMatch } from './columns.ts';
import { measureOf } from './measures.ts';

/** Which rows the question is about. A row has to hold all conditions. */
export interface AskedCondition {
  readonly column: string;
  readonly op: 'in' | 'not in' | '<' | '<=' | '>' | '>=' | '=' | 'contains';
  readonly values: readonly (string | number)[];
  /** Where the question says it. */
  readonly start: number;
  readonly end: number;
}

/** @returns undefined where the question compares with a number and no column is found for it */
export function readConditions(text: string, words: readonly AskedWord[], columns: readonly Column[]): AskedCondition[] | undefined {
  const named = namedValues(text, words, columns);
  const compared = comparisons(text, words, columns, named);
  return compared && [...named, ...compared];
}

// --- values of cells that the question names

interface Mention {
  readonly column: Column;
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

function namedValues(text: string, words: readonly AskedWord[], columns: readonly Column[]): AskedCondition[] {
  const mentions = withoutOverlaps(columns.flatMap((column) => mentionsOf(text, words, column)), text, columns);
  const groups: { column: Column; values: string[]; start: number; end: number; isExcluded: boolean }[] = [];
  for (const mention of mentions) {
    const last = groups.at(-1);
    const between = last === undefined ? '' : text.slice(last.end, mention.start);
    // "drinks and merchandise", "Oslo, Bergen or Hamar": one group, which is excluded as a whole or not at all.
    if (last?.column === mention.column && /^[\s,]*(?:and|or|nor|&)?\s*(?:the |in |at |from |for )?$/i.test(between)) {
      last.values.push(mention.value);
      last.end = mention.end;
    } else {
      const { column, value, start, end } = mention;
      groups.push({ column, values: [value], start, end, isExcluded: false });
    }
  }
  for (const group of groups) group.isExcluded = isExcluded(text, group.start, group.end);
  for (const [index, group] of [...groups.entries()].reverse()) {
    const [first, ...others] = group.values;
    // "Food, drinks and merchandise not included": not everything is left out, so what comes first is wanted.
    if (!group.isExcluded || first === undefined || others.length === 0 || group.values.length < group.column.values.length) continue;
    groups.splice(index, 1, { ...group, values: [first], isExcluded: false }, { ...group, values: others });
  }
  const positive = new Map<Column, AskedCondition>();
  const conditions: AskedCondition[] = [];
  for (const { column, values, start, end, isExcluded: not } of groups) {
    const before = not ? undefined : positive.get(column);
    const condition: AskedCondition = {
      column: column.name,
      op: not ? 'not in' : 'in',
      values: [...(before?.values ?? []), ...values.filter((value) => !before?.values.includes(value))],
      start: before?.start ?? start,
      end: before?.end ?? end,
    };
    if (before !== undefined) conditions.splice(conditions.indexOf(before), 1);
    if (!not) positive.set(column, condition);
    conditions.push(condition);
  }
  // "food, drinks not included": what is wanted says it already.
  return [...conditions.filter(({ op, column }) => op === 'in' || ![...positive.keys()].some(({ name }) => name === column)), ...flags(text, words, columns)];
}

function mentionsOf(text: string, words: readonly AskedWord[], column: Column): Mention[] {
  if (column.kind !== 'text') return [];
  const mentions: Mention[] = [];
  for (const value of column.values) {
    const parts = value.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const [first] = parts;
    if (first === undefined || (parts.length === 1 && (isStopWord(first) || /^\d+$/.test(first)))) continue;
    for (let at = 0; at + parts.length <= words.length; at++) {
      if (!parts.every((part, offset) => sameWord(words[at + offset], part, parts.length))) continue;
      const start = words[at]?.start ?? 0;
      const end = words[at + parts.length - 1]?.end ?? start;
      // A letter alone is a value where it is written as in the table.
      if (first.length > 1 || parts.length > 1 || text.slice(start, end) === value.trim()) mentions.push({ column, value, start, end });
    }
  }
  return mentions;
}

/** One-word values may stand in the plural or the singular; in a name each word is as it is. */
function sameWord(word: AskedWord | undefined, part: string, count: number): boolean {
  if (word === undefined) return false;
  if (word.lower === part) return true;
  return count === 1 && part.length > 2 && [`${part}s`, `${part}es`, part.replace(/y$/, 'ies'), part.replace(/s$/, '')].includes(word.lower);
}

/** The longest mention of a place; of equals the one whose column is named beside it. */
function withoutOverlaps(mentions: readonly Mention[], text: string, columns: readonly Column[]): Mention[] {
  const isNamedBeside = ({ column, start, end }: Mention) => {
    const near = text.slice(Math.max(0, start - 24), end + 24).toLowerCase();
    return column.words.some((word) => near.includes(word));
  };
  const ranked = [...mentions].sort(
    (a, b) =>
      b.end - b.start - (a.end - a.start) ||
      Number(isNamedBeside(b)) - Number(isNamedBeside(a)) ||
      a.column.values.length - b.column.values.length ||
      columns.indexOf(a.column) - columns.indexOf(b.column),
  );
  const kept: Mention[] = [];
  for (const mention of ranked) {
    if (kept.every(({ start, end }) => mention.end <= start || mention.start >= end)) kept.push(mention);
  }
  return kept.sort((a, b) => a.start - b.start);
}

function isExcluded(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 40), start);
  const after = text.slice(end, end + 40);
  return (
    /\b(?:not|no|except(?:ing)?(?: for)?|exclud(?:ing|e|es)|without|other than|besides|apart from|aside from|leaving out|ignor(?:ing|e)|but not|outside(?: of)?|non)[\s-]+(?:\w+\s+){0,2}$/i.test(before) ||
    /^[\s,]*(?:\w+ )?(?:(?:are|is|were|was) )?(?:not included|not counted|excluded|left out|aside|omitted|excepted)\b/i.test(after)
  );
}

/** "automated lighthouses", "not automated": a column of yes and no that is named like an adjective. */
function flags(text: string, words: readonly AskedWord[], columns: readonly Column[]): AskedCondition[] {
  const conditions: AskedCondition[] = [];
  for (const column of columns) {
    if (column.kind !== 'yes-no') continue;
    const word = words.find(({ stem }) => column.stems.includes(stem));
    if (word === undefined) continue;
    const isNegative = /\b(?:not|no|non|never|without|un|aren't|isn't|weren't|wasn't)[\s-]*(?:\w+\s+)?$/i.test(text.slice(Math.max(0, word.start - 20), word.start));
    const wanted = column.values.filter((value) => /^(?:yes|true|y)$/i.test(value) !== isNegative);
    conditions.push({ column: column.name, op: 'in', values: wanted, start: word.start, end: word.end });
  }
  return conditions;
}

// --- numbers and dates that the question compares with

type Comparison = '<' | '<=' | '>' | '>=' | '=';

const NUMBER = String.raw`[$€£]?\s?(?<n>-?\d[\d,]*(?:\.\d+)?)(?:\s?%)?(?!\d)`;
const PHRASES: readonly (readonly [pattern: string, op: Comparison])[] = [
  [String.raw`\b(?:at least|no (?:less|fewer) than|not (?:less|fewer) than|a minimum of|minimum of|from|since)\s+`, '>='],
  [String.raw`\b(?:at most|no more than|not more than|a maximum of|maximum of|up to|until|not exceeding)\s+`, '<='],
  [String.raw`\b(?:more|greater|larger|higher|longer|taller|bigger|older|heavier|deeper|wider|faster|later|hotter|warmer|dearer|stronger) than\s+|\b(?:over|above|after|exceed(?:s|ed|ing)?|beyond|past)\s+|>\s*`, '>'],
  [String.raw`\b(?:less|fewer|lower|smaller|shorter|younger|lighter|cheaper|earlier|slower|colder|narrower|shallower) than\s+|\b(?:under|below|before|prior to|beneath)\s+|<\s*`, '<'],
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

function comparisons(text: string, words: readonly AskedWord[], columns: readonly Column[], named: readonly AskedCondition[]): AskedCondition[] | undefined {
  const inTime = timeConditions(text, columns, words);
  if (inTime === undefined) return undefined;
  const conditions = [...inTime];
  const isFree = ({ start, end }: { start: number; end: number }) => [...conditions, ...named].every((other) => end <= other.start || start >= other.end);
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
      found.push({ op, value: numberOf(match), start: match.index, end: match.index + match[0].length, lead: match.groups?.lead ?? '' });
    }
  }
  for (const [tail, op] of POSTFIX) {
    for (const match of text.matchAll(new RegExp(`${NUMBER}${tail}`, 'giu'))) {
      found.push({ op, value: numberOf(match), start: match.index, end: match.index + match[0].length, lead: '' });
    }
  }
  // "not more than 5" holds "more than 5": the first phrase of the list counts.
  return found.filter((one, index) => found.slice(0, index).every((other) => one.end <= other.start || one.start >= other.end));
}

function ranges(text: string): Compared[] {
  const pattern = new RegExp(`\\b(?:between|from)\\s+[$€£]?(?<low>\\d[\\d,]*(?:\\.\\d+)?)[^\\d,.;]{0,16}\\s(?:and|to)\\s+[$€£]?(?<high>\\d[\\d,]*(?:\\.\\d+)?)`, 'giu');
  return [...text.matchAll(pattern)].map((match) => {
    const [low = 0, high = 0] = [match.groups?.low, match.groups?.high].map((digits) => Number((digits ?? '').replaceAll(',', '')));
    return { op: '>=', value: low, until: high, start: match.index, end: match.index + match[0].length, lead: '' };
  });
}

function numberOf(match: RegExpExecArray): number {
  return Number((match.groups?.n ?? '').replaceAll(',', ''));
}

/** By what leads the number, its unit or noun, then the name before it; else the only column of numbers. */
function columnFor({ start, end, lead, value }: Compared, text: string, words: readonly AskedWord[], columns: readonly Column[]): Column | undefined {
  const numeric = columns.filter(isNumeric);
  const isYear = Number.isInteger(value) && value >= 1000 && value <= 2100;
  const years = numeric.filter(({ kind }) => kind === 'year');
  if (isYear && years.length === 1 && /\b(?:before|after|since|until|from|prior|later|earlier|between)\b|^$/i.test(lead)) return years[0];
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
  return text.startsWith(own) ? !/^\p{L}/u.test(text.slice(own.length)) : (UNIT_NAMES.get(own)?.test(text) ?? false);
}

export function best(columns: readonly Column[], score: (column: Column) => number): Column | undefined {
  let found: Column | undefined;
  let most = 0;
  for (const column of columns) {
    const points = score(column);
    if (points > most) {
      found = column;
      most = points;
    }
  }
  return found;
}

// --- conditions on a column of dates

function timeConditions(text: string, columns: readonly Column[], words: readonly AskedWord[]): AskedCondition[] | undefined {
  const dates = columns.filter(({ kind }) => kind === 'date');
  const column = dates.length === 1 ? dates[0] : best(dates, (one) => nameMatch(one, words));
  if (column === undefined) return dates.length === 0 || foundDates(text).length === 0 ? [] : undefined;
  const condition = (op: AskedCondition['op'], value: string, start: number, end: number): AskedCondition => ({ column: column.name, op, values: [value], start, end });
  const conditions: AskedCondition[] = [];
  const spans = [
    ...foundDates(text).map(({ date, start, end }) => ({ first: date, last: date, start, end })),
    ...foundMonths(text),
    ...[...text.matchAll(/\b(?:1[5-9]|20)\d\d\b/g)].map((match) => yearSpan(Number(match[0]), match.index)),
  ];
  const free = spans.filter((span, index) => spans.slice(0, index).every((other) => span.end <= other.start || span.start >= other.end)).sort((a, b) => a.start - b.start);
  for (const [index, { first, last, start, end }] of free.entries()) {
    const lead = text.slice(Math.max(0, start - 24), start);
    const previous = free[index - 1];
    const tail = text.slice(end, end + 16);
    if (/^\s*(?:or (?:later|after)|onwards?|and (?:later|after))\b/i.test(tail)) {
      conditions.push(condition('>=', isoDate(first), start, end));
    } else if (/^\s*(?:or (?:earlier|before)|and (?:earlier|before))\b/i.test(tail)) {
      conditions.push(condition('<=', endOf(last), start, end));
    } else if (previous !== undefined && /^\s*(?:and|to|until|through|till|-|–)\s*(?:the )?$/i.test(text.slice(previous.end, start)) && /\b(?:between|from)\s+(?:the )?$/i.test(text.slice(Math.max(0, previous.start - 16), previous.start))) {
      conditions.push(condition('<=', endOf(last), start, end));
    } else if (/\b(?:before|prior to|earlier than)\s+(?:the )?$/i.test(lead)) {
      conditions.push(condition('<', isoDate(first), start, end));
    } else if (/\b(?:until|up to|no later than|by)\s+(?:the )?(?:end of )?$/i.test(lead)) {
      conditions.push(condition('<=', endOf(last), start, end));
    } else if (/\b(?:after|later than|past)\s+(?:the )?$/i.test(lead)) {
      conditions.push(condition('>', endOf(last), start, end));
    } else if (/\b(?:since|from|starting)\s+(?:the )?$/i.test(lead)) {
      conditions.push(condition('>=', isoDate(first), start, end));
    } else if (/\bbetween\s+(?:the )?$/i.test(lead)) {
      conditions.push(condition('>=', isoDate(first), start, end));
    } else {
      conditions.push(condition('>=', isoDate(first), start, end), condition('<=', endOf(last), start, end));
    }
  }
  if (free.length === 0) conditions.push(...monthConditions(text, column));
  return conditions;
}

/** A cell may have a time of day behind its date. */
function endOf(date: CalendarDate): string {
  return `${isoDate(date)}T99`;
}

function yearSpan(year: number, start: number) {
  return { first: { year, month: 1, day: 1 }, last: { year, month: 12, day: 31 }, start, end: start + 4 };
}

/** "in March", of any year. "May" is a month behind a preposition only. */
function monthConditions(text: string, column: Column): AskedCondition[] {
  const names = 'January|February|March|April|May|June|July|August|September|October|November|December';
  const match = new RegExp(`\\b(?:in|during|of|for|from)\\s+(${names})\\b`).exec(text);
  if (match === null) return [];
  const month = String(names.split('|').indexOf(match[1] ?? '') + 1).padStart(2, '0');
  return [{ column: column.name, op: 'contains', values: [`-${month}-`], start: match.index, end: match.index + match[0].length }];
}
