import {
  type CalendarDate,
  dateOfDay,
  dayNumber,
  foundDates,
  longDate,
  WEEKDAYS,
  weekdayOf,
} from '../dates.ts';
import type { Reading } from '../solution.ts';

/** Questions about days, dates and the clock: arithmetic that needs no tool. @param text with its numbers in figures */
export function readCalendar(text: string): Reading | undefined {
  return between(text) ?? shifted(text) ?? weekdayIn(text) ?? weekday(text) ?? leapYears(text) ?? clock(text);
}

function between(text: string): Reading | undefined {
  const [first, second, third] = foundDates(text);
  const unit =
    /\bhow many (?:full |whole |complete )?(days|weeks|nights)\b|\bnumber of (days|weeks|nights)\b/i.exec(
      text,
    );
  if (first === undefined || second === undefined || third !== undefined || unit === null) return undefined;
  const days = Math.abs(dayNumber(second.date) - dayNumber(first.date));
  const isInclusive =
    /\bboth (?:days |dates |ends )?(?:included|inclusive)\b|\binclusive(?:ly)?\b|\bincluding both\b|\bcounting both\b/i.test(
      text,
    );
  const counted = days + (isInclusive ? 1 : 0);
  const done = /weeks/i.test(unit[1] ?? unit[2] ?? '') ? String(Math.floor(counted / 7)) : String(counted);
  return { why: `From ${longDate(first.date)} to ${longDate(second.date)} there are ${days} days.`, done };
}

const SHIFT =
  /\b(\d[\d,]*) (day|week|month|year)s? (after|from|before|prior to|later than|earlier than|following)\b/i;

/** A date so many days, weeks, months or years from another. */
function shifted(text: string): Reading | undefined {
  const [found, more] = foundDates(text);
  const match = SHIFT.exec(text);
  if (found === undefined || more !== undefined || match === null) return undefined;
  const count =
    Number((match[1] ?? '').replaceAll(',', '')) * (/before|prior|earlier/i.test(match[3] ?? '') ? -1 : 1);
  const date = moved(found.date, count, (match[2] ?? '').toLowerCase());
  const why = `${match[0]} ${longDate(found.date)} is ${longDate(date)}, a ${weekdayOf(date)}.`;
  return {
    why,
    done: /\b(?:day of the week|weekday|what day\b(?! of the month))/i.test(text)
      ? weekdayOf(date)
      : longDate(date),
  };
}

function moved({ year, month, day }: CalendarDate, count: number, unit: string): CalendarDate {
  if (unit === 'day' || unit === 'week')
    return dateOfDay(dayNumber({ year, month, day }) + count * (unit === 'week' ? 7 : 1));
  const months = year * 12 + month - 1 + count * (unit === 'year' ? 12 : 1);
  const to = { year: Math.floor(months / 12), month: (months % 12) + 1 };
  // 31 January and a month is the last of February.
  const last = new Date(Date.UTC(to.year, to.month, 0)).getUTCDate();
  return { ...to, day: Math.min(day, last) };
}

const WEEKDAY = new RegExp(`\\b(${WEEKDAYS.join('|')})\\b`, 'i');

/** If today is Thursday, what day will it be in 100 days. */
function weekdayIn(text: string): Reading | undefined {
  const today = WEEKDAY.exec(text)?.[1];
  const isAsked = /\b(?:what|which) (?:day|weekday)\b|\bday of the week\b/i.test(text);
  const match =
    /\b(?:in|after) (\d[\d,]*) (day|week)s?\b|\b(\d[\d,]*) (day|week)s? (?:from now|from today|from then|later|hence|after(?:wards| that)?|ago|before(?: that)?|earlier)\b/i.exec(
      text,
    );
  if (today === undefined || !isAsked || match === null || foundDates(text).length > 0) return undefined;
  const count =
    Number((match[1] ?? match[3] ?? '').replaceAll(',', '')) *
    (/week/i.test(match[2] ?? match[4] ?? '') ? 7 : 1);
  const sign = /\b(?:ago|before|earlier)\b/i.test(match[0]) ? -1 : 1;
  const at = WEEKDAYS.findIndex((name) => name.toLowerCase() === today.toLowerCase());
  const day = WEEKDAYS[(((at + sign * count) % 7) + 7) % 7] ?? '';
  return { why: `${count} days are ${Math.floor(count / 7)} weeks and ${count % 7} days.`, done: day };
}

function weekday(text: string): Reading | undefined {
  const [found, more] = foundDates(text);
  if (
    found === undefined ||
    more !== undefined ||
    /\d/.test(text.slice(0, found.start) + text.slice(found.end))
  )
    return undefined;
  if (!/\b(?:what|which) (?:day of the week|weekday|day)\b|\bday of the week\b/i.test(text)) return undefined;
  return {
    why: `The calendar has ${longDate(found.date)} as a ${weekdayOf(found.date)}.`,
    done: weekdayOf(found.date),
  };
}

function leapYears(text: string): Reading | undefined {
  const match = /\bhow many leap years\b.*?\b(?:between|from)\s+(\d{4})\s+(?:and|to)\s+(\d{4})/i.exec(text);
  if (match === null) return undefined;
  const until = (year: number) => Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400);
  const count = until(Number(match[2])) - until(Number(match[1]) - 1);
  return { why: 'Every fourth year is one, but of full centuries only every fourth.', done: String(count) };
}

const TIME = /\b(\d{1,2})[:.](\d{2})(?:\s*([ap])\.?m\.?)?(?!\d)/gi;

/** Minutes or hours from one time of day to the next. */
function clock(text: string): Reading | undefined {
  const [first, second, third] = [...text.matchAll(TIME)].map(minutesOf);
  const unit = /\bhow many (minutes|hours)\b|\bin (minutes|hours)\b/i.exec(text);
  if (first === undefined || second === undefined || third !== undefined || unit === null) return undefined;
  const minutes = (second - first + 1440) % 1440;
  const done = /hours/i.test(unit[1] ?? unit[2] ?? '') ? String(minutes / 60) : String(minutes);
  return { why: `From the first time to the second there are ${minutes} minutes.`, done };
}

function minutesOf([, hours, minutes, half]: RegExpExecArray): number {
  const hour =
    half === undefined ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  return hour * 60 + Number(minutes);
}
