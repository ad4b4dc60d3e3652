import { dateOf, instantOf } from '../values/date.ts';
import { durationOf } from '../values/duration.ts';
import { decimalSum } from '../values/number.ts';
import { quantityOf } from '../values/quantity.ts';
import {
  EMPTY,
  type Instant,
  isQuantity,
  numberValue,
  plainNumber,
  type Quantity,
  textValue,
  truthValue,
  type Value,
  valueText,
} from '../values/value.ts';
import { areEqual, foldedText, inUnitOf, orderOf } from './compare.ts';

/** A function of formulas: how many arguments it takes, and what it gives. What has no meaning gives nothing. */
interface FormulaFunction {
  readonly takes: readonly [least: number, most: number];
  readonly of: (...values: readonly Value[]) => Value;
}

const SECONDS_A_DAY = 86_400;
const MAX_TEXT_CHARACTERS = 10_000;
const WEEKDAYS = ['Thursday', 'Friday', 'Saturday', 'Sunday', 'Monday', 'Tuesday', 'Wednesday'];

const one = (of: (value: Value) => Value): FormulaFunction => ({
  takes: [1, 1],
  of: (value = EMPTY) => of(value),
});
const two = (of: (left: Value, right: Value) => Value): FormulaFunction => ({
  takes: [2, 2],
  of: (left = EMPTY, right = EMPTY) => of(left, right),
});
const ofDate = (of: (date: Date, instant: Instant) => Value) =>
  one((value) =>
    value.kind === 'date' ? of(new Date(Math.floor(value.from * SECONDS_A_DAY + 0.5) * 1000), value) : EMPTY,
  );
const ofNumber = (of: (number: number) => number) =>
  one((value) => (isQuantity(value) ? quantity(value, of(value.number)) : EMPTY));
const inSeconds = (size: number) =>
  one((value) =>
    value.kind === 'duration'
      ? numberValue(plainNumber(value.number / size))
      : isQuantity(value) && value.unit === 'days'
        ? numberValue(plainNumber((value.number * SECONDS_A_DAY) / size))
        : EMPTY,
  );
const tested = (test: (order: number) => boolean) =>
  two((left, right) => {
    const order = orderOf(left, right);
    return truthValue(order !== undefined && test(order));
  });
const ofText = (of: (text: string) => Value) =>
  one((value) => (value.kind === 'empty' ? EMPTY : of(valueText(value))));

/** All but those that look at several rows. */
export const FUNCTIONS: Readonly<Record<string, FormulaFunction>> = {
  '=': two((left, right) => truthValue(areEqual(left, right))),
  '!=': two((left, right) => truthValue(!areEqual(left, right))),
  '<': tested((order) => order < 0),
  '<=': tested((order) => order <= 0),
  '>': tested((order) => order > 0),
  '>=': tested((order) => order >= 0),
  contains: two((left, right) => truthValue(foldedText(left).includes(foldedText(right)))),
  starts_with: two((left, right) => truthValue(foldedText(left).startsWith(foldedText(right)))),
  ends_with: two((left, right) => truthValue(foldedText(left).endsWith(foldedText(right)))),
  like: two((left, right) => truthValue(isLike(foldedText(left), foldedText(right)))),
  and: two((left, right) => truthValue(isTrue(left) && isTrue(right))),
  or: two((left, right) => truthValue(isTrue(left) || isTrue(right))),
  not: one((value) => truthValue(!isTrue(value))),
  is_empty: one((value) => truthValue(value.kind === 'empty')),
  '+': two(added),
  '-': two(subtracted),
  '*': two((left, right) => product(left, right, (a, b) => a * b, '·')),
  '/': two((left, right) => product(left, right, (a, b) => (b === 0 ? Number.NaN : a / b), '/')),
  '%': two((left, right) =>
    product(left, right, (a, b) => (b === 0 ? Number.NaN : a - b * Math.floor(a / b)), ''),
  ),
  '^': two((left, right) => product(left, right, (a, b) => a ** b, '')),
  negative: ofNumber((number) => -number),
  abs: ofNumber(Math.abs),
  floor: ofNumber(Math.floor),
  ceil: ofNumber(Math.ceil),
  sqrt: ofNumber(Math.sqrt),
  round: {
    takes: [1, 2],
    of: (value = EMPTY, digits = numberValue(0)) =>
      isQuantity(value) && isQuantity(digits) ? quantity(value, rounded(value.number, digits.number)) : EMPTY,
  },
  number: one((value) =>
    value.kind === 'truth'
      ? numberValue(Number(value.is))
      : isQuantity(value)
        ? numberValue(value.number)
        : numberIn(valueText(value)),
  ),
  year: ofDate((date) => numberValue(date.getUTCFullYear())),
  month: ofDate((date, { from, to }) => (to - from > 31 ? EMPTY : numberValue(date.getUTCMonth() + 1))),
  quarter: ofDate((date, { from, to }) =>
    to - from > 31 ? EMPTY : numberValue(Math.floor(date.getUTCMonth() / 3) + 1),
  ),
  day: ofDate((date, { from, to }) => (to > from ? EMPTY : numberValue(date.getUTCDate()))),
  weekday: ofDate((_, { from, to }) => (to > from ? EMPTY : textValue(weekdayOf(from)))),
  date: one((value) => (value.kind === 'date' ? value : dateIn(valueText(value)))),
  days: inSeconds(SECONDS_A_DAY),
  hours: inSeconds(3600),
  minutes: inSeconds(60),
  seconds: inSeconds(1),
  duration: one((value) => (value.kind === 'duration' ? value : (durationOf(valueText(value)) ?? EMPTY))),
  currency: one((value) => (value.kind === 'money' ? textValue(value.unit) : EMPTY)),
  unit: one((value) => (isQuantity(value) ? textValue(value.unit) : EMPTY)),
  text: ofText(textValue),
  lower: ofText((text) => textValue(text.toLowerCase())),
  upper: ofText((text) => textValue(text.toUpperCase())),
  trim: ofText((text) => textValue(text.trim())),
  length: ofText((text) => numberValue([...text].length)),
  left: two((value, count) => textValue(valueText(value).slice(0, Math.max(0, sizeOf(count))))),
  right: two((value, count) => textValue(sizeOf(count) <= 0 ? '' : valueText(value).slice(-sizeOf(count)))),
  part: {
    takes: [3, 3],
    of: (value = EMPTY, separator = EMPTY, place = EMPTY) => {
      const parts = valueText(value).split(valueText(separator));
      const found = parts.at(sizeOf(place) > 0 ? sizeOf(place) - 1 : sizeOf(place))?.trim();
      return found === undefined ? EMPTY : textValue(found);
    },
  },
  replace: {
    takes: [3, 3],
    of: (value = EMPTY, old = EMPTY, fresh = EMPTY) =>
      textValue(
        valueText(value)
          .replaceAll(valueText(old), () => valueText(fresh))
          .slice(0, MAX_TEXT_CHARACTERS),
      ),
  },
  if: { takes: [3, 3], of: (test = EMPTY, yes = EMPTY, no = EMPTY) => (isTrue(test) ? yes : no) },
  coalesce: { takes: [1, 20], of: (...values) => values.find(({ kind }) => kind !== 'empty') ?? EMPTY },
};

export function isTrue(value: Value): boolean {
  return value.kind === 'truth' ? value.is : isQuantity(value) && value.number !== 0;
}

function quantity(like: Quantity, number: number): Value {
  return Number.isFinite(number) ? { kind: like.kind, number, unit: like.unit } : EMPTY;
}

function added(left: Value, right: Value): Value {
  if (left.kind === 'date' && isQuantity(right)) return moved(left, right, 1);
  if (right.kind === 'date' && isQuantity(left)) return moved(right, left, 1);
  if (isQuantity(left) && isQuantity(right)) {
    const same = inUnitOf(left, right);
    const lead = left.unit === '' ? right : left;
    if (same === undefined) return EMPTY;
    const inLead =
      left.unit === '' || right.unit === '' ? [left.number, right.number] : [same.number, right.number];
    return quantity(left.unit === '' || right.unit === '' ? lead : right, decimalSum(inLead));
  }
  if (left.kind === 'text' || right.kind === 'text')
    return textValue((valueText(left) + valueText(right)).slice(0, MAX_TEXT_CHARACTERS));
  return EMPTY;
}

function subtracted(left: Value, right: Value): Value {
  if (left.kind === 'date' && right.kind === 'date')
    return numberValue(plainNumber(left.from - right.from), 'days');
  if (left.kind === 'date' && isQuantity(right)) return moved(left, right, -1);
  if (!isQuantity(left) || !isQuantity(right)) return EMPTY;
  return added(left, { ...right, number: -right.number });
}

/** Days are added where a number has no other unit. */
function moved(date: Instant, by: Quantity, sign: 1 | -1): Value {
  if (by.kind === 'money' || (by.unit !== '' && by.unit !== 'days')) return EMPTY;
  const days = (by.kind === 'duration' ? by.number / SECONDS_A_DAY : by.number) * sign;
  return { kind: 'date', from: date.from + days, to: date.to + days };
}

function product(left: Value, right: Value, of: (a: number, b: number) => number, sign: string): Value {
  if (!isQuantity(left) || !isQuantity(right)) return EMPTY;
  const number = of(left.number, right.number);
  if (!Number.isFinite(number)) return EMPTY;
  if (left.kind === right.kind && sign === '/' && (left.kind !== 'number' || left.unit === right.unit)) {
    const same = inUnitOf(left, right);
    return same === undefined ? EMPTY : numberValue(plainNumber(of(same.number, right.number)));
  }
  if (right.kind === 'duration' && sign === '/')
    return numberValue(plainNumber(number), `${left.unit === '' ? '1' : left.unit}/s`);
  const lead = left.kind === 'number' && sign !== '/' ? right : left;
  const other = lead === left ? right : left;
  if (lead.kind !== 'number') return other.kind === 'number' ? quantity(lead, plainNumber(number)) : EMPTY;
  const unit = [left.unit, right.unit].filter((part) => part !== '').join(sign);
  return numberValue(
    plainNumber(number),
    left.unit === '' && sign === '/' && right.unit !== '' ? `1/${right.unit}` : unit,
  );
}

function rounded(number: number, digits: number): number {
  const scale = 10 ** Math.max(-15, Math.min(15, Math.trunc(digits)));
  // As on paper: 1.005 to two digits is 1.01, though the double is a little less.
  return Number((Math.sign(number) * Math.round(plainNumber(Math.abs(number) * scale))) / scale);
}

function numberIn(text: string): Value {
  const found = quantityOf(text) ?? quantityOf(/[-−]?[\d.,]*\d/.exec(text)?.[0] ?? '');
  return found === undefined ? EMPTY : numberValue(found.number);
}

function dateIn(text: string): Value {
  const reading = dateOf(text);
  return (reading && instantOf(reading)) ?? EMPTY;
}

function weekdayOf(days: number): string {
  return WEEKDAYS[((Math.floor(days) % 7) + 7) % 7] ?? '';
}

const sizeOf = (value: Value) => (isQuantity(value) ? Math.trunc(value.number) : 0);

/** `%` stands for any letters and `_` for one, as in SQL. Without backtracking over what was made to take long. */
function isLike(text: string, pattern: string): boolean {
  let [at, in_] = [0, 0];
  let [star, mark] = [-1, 0];
  while (at < text.length) {
    if (pattern[in_] === '%') [star, mark, in_] = [in_, at, in_ + 1];
    else if (pattern[in_] === '_' || pattern[in_] === text[at]) [at, in_] = [at + 1, in_ + 1];
    else if (star >= 0) [at, in_, mark] = [mark + 1, star + 1, mark + 1];
    else return false;
  }
  return [...pattern.slice(in_)].every((sign) => sign === '%');
}
