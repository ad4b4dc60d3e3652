import { type CalendarDate, foundDates, foundMonths, isoDate } from '../dates.ts';
import type { AskedCondition } from './asked-condition.ts';
import { type AskedWord, best, type Column, nameMatch } from './columns.ts';

/** Conditions on a column of dates; undefined where it is not clear on which. */
export function timeConditions(
  text: string,
  columns: readonly Column[],
  words: readonly AskedWord[],
): AskedCondition[] | undefined {
  const dates = columns.filter(({ kind }) => kind === 'date');
  const column = dates.length === 1 ? dates[0] : best(dates, (one) => nameMatch(one, words));
  if (column === undefined) return dates.length === 0 || foundDates(text).length === 0 ? [] : undefined;
  const condition = (
    op: AskedCondition['op'],
    value: string,
    start: number,
    end: number,
  ): AskedCondition => ({ column: column.name, op, values: [value], start, end });
  const conditions: AskedCondition[] = [];
  const spans = [
    ...foundDates(text).map(({ date, start, end }) => ({ first: date, last: date, start, end })),
    ...foundMonths(text),
    ...[...text.matchAll(/\b(?:1[5-9]|20)\d\d\b/g)].map((match) => yearSpan(Number(match[0]), match.index)),
  ];
  const free = spans
    .filter((span, index) =>
      spans.slice(0, index).every((other) => span.end <= other.start || span.start >= other.end),
    )
    .sort((a, b) => a.start - b.start);
  for (const [index, { first, last, start, end }] of free.entries()) {
    const lead = text.slice(Math.max(0, start - 24), start);
    const previous = free[index - 1];
    const tail = text.slice(end, end + 16);
    if (/^\s*(?:or (?:later|after)|onwards?|and (?:later|after))\b/i.test(tail)) {
      conditions.push(condition('>=', isoDate(first), start, end));
    } else if (/^\s*(?:or (?:earlier|before)|and (?:earlier|before))\b/i.test(tail)) {
      conditions.push(condition('<=', endOf(last), start, end));
    } else if (
      previous !== undefined &&
      /^\s*(?:and|to|until|through|till|-|–)\s*(?:the )?$/i.test(text.slice(previous.end, start)) &&
      /\b(?:between|from)\s+(?:the )?$/i.test(text.slice(Math.max(0, previous.start - 16), previous.start))
    ) {
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
  return [
    {
      column: column.name,
      op: 'contains',
      values: [`-${month}-`],
      start: match.index,
      end: match.index + match[0].length,
    },
  ];
}
