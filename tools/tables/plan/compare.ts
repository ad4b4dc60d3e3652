import { dateOf, instantOf } from '../values/date.ts';
import { durationOf } from '../values/duration.ts';
import { conversion, quantityOf } from '../values/quantity.ts';
import type { ColumnKind, TypedColumn } from '../values/typed-column.ts';
import { type Instant, isQuantity, type Quantity, type Value, valueText } from '../values/value.ts';

/** Texts are compared without case and outer spaces. */
export function foldedText(value: Value): string {
  return valueText(value).trim().replace(/\s+/g, ' ').toLowerCase();
}

/** What makes two values the same: in groups, joins and counts of different ones. */
export function keyOf(value: Value): string {
  if (isQuantity(value)) return `n${Number(value.number.toPrecision(15)) + 0}`;
  if (value.kind === 'date') return `d${value.from} ${value.to}`;
  return value.kind === 'empty' ? '' : `t${foldedText(value)}`;
}

/** Whether two values are the same; a date is the same as a less exact one that it lies in. */
export function areEqual(left: Value, right: Value): boolean {
  if (isQuantity(left) && isQuantity(right)) return inUnitOf(left, right)?.number === right.number;
  if (left.kind === 'date' && right.kind === 'date') return isWithin(left, right) || isWithin(right, left);
  if (left.kind === 'truth' && right.kind === 'truth') return left.is === right.is;
  return foldedText(left) === foldedText(right);
}

function isWithin(inner: Instant, outer: Instant): boolean {
  // A day holds its times.
  return (
    outer.from <= inner.from &&
    inner.to < Math.floor(outer.to) + 1 &&
    (!isTime(outer) || inner.from === outer.from)
  );
}

const isTime = ({ from }: Instant) => !Number.isInteger(from);

/** Below 0 where left comes first; undefined where the two have no order: different kinds, units that cannot be converted. */
export function orderOf(left: Value, right: Value): number | undefined {
  if (isQuantity(left) && isQuantity(right)) {
    const same = inUnitOf(left, right);
    return same === undefined ? undefined : same.number - right.number;
  }
  if (left.kind === 'date' && right.kind === 'date') {
    if (isWithin(left, right) || isWithin(right, left)) return 0;
    return left.from - right.from;
  }
  if (left.kind === 'text' && right.kind === 'text') {
    const [one, other] = [foldedText(left), foldedText(right)];
    if (one === '' || other === '') return undefined;
    return one < other ? -1 : one > other ? 1 : 0;
  }
  if (left.kind === 'truth' && right.kind === 'truth') return Number(left.is) - Number(right.is);
  return undefined;
}

/** `left` in the unit of `right`; what has no unit takes any. */
export function inUnitOf(left: Quantity, right: Quantity): Quantity | undefined {
  if (left.kind === 'duration' || right.kind === 'duration')
    return left.kind === right.kind ? left : undefined;
  if (left.unit === '' || right.unit === '' || left.unit === right.unit) return left;
  const factor = conversion(left.unit, right.unit);
  return factor === undefined ? undefined : { ...left, number: left.number * factor, unit: right.unit };
}

/**
 * A constant as it is meant beside a column: `'2024-03'` beside dates is a date, `'5 km'` beside numbers a quantity. Undefined where it
 * cannot be one.
 */
export function constantFor(
  value: Value,
  { kind, order }: Pick<TypedColumn, 'kind' | 'order'>,
): Value | undefined {
  if (value.kind === kind || value.kind === 'empty') return value;
  if (kind === 'date') return dateFor(value, order);
  if (value.kind !== 'text') return kind === 'duration' && value.kind === 'number' ? undefined : value;
  if (kind === 'duration') return durationOf(value.text);
  if (kind === 'number' || kind === 'money') return quantityOf(value.text);
  if (kind === 'truth' && /^(true|false)$/i.test(value.text))
    return { kind: 'truth', is: value.text.toLowerCase() === 'true' };
  return value;
}

function dateFor(value: Value, order: TypedColumn['order']): Value | undefined {
  const text = valueText(value);
  if (/^\s*\d{4}\s*$/.test(text))
    return instantOf({
      year: Number(text),
      month: undefined,
      day: undefined,
      seconds: undefined,
      isEither: false,
    });
  const reading = dateOf(text, order);
  return reading && instantOf(reading);
}

/** How to write a constant of a kind. */
export const EXAMPLES: Readonly<Record<ColumnKind, string>> = {
  date: "write it as '2024-03-01'",
  duration: "write it as '1:30:00' or '90 min'",
  number: 'write a number such as 12.5',
  money: 'write a number such as 12.5',
  truth: 'write true or false',
  text: "write a text such as 'Oslo'",
};
