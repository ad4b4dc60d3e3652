/** What a cell of a file holds. Dates are texts in ISO 8601, errors texts like `#DIV/0!`. */
export type CellValue = null | boolean | number | string;

/** A cell, a constant or a result with its type. `text` is as it stands in the table, where it does. */
export type Value =
  | { readonly kind: 'empty' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'truth'; readonly is: boolean }
  | Quantity
  | Instant;

/** How much. A `duration` is in seconds; a percentage is a fraction. */
export interface Quantity {
  readonly kind: 'number' | 'money' | 'duration';
  readonly number: number;
  /** `km`, `EUR`; empty without one, and of durations. */
  readonly unit: string;
  readonly text?: string;
}

/** A date, and how exactly it is known: `March 2024` is from its first day to its last. In days since 1970, fractions for the time of day. */
export interface Instant {
  readonly kind: 'date';
  readonly from: number;
  readonly to: number;
  readonly text?: string;
}

export type Kind = Value['kind'];

export const EMPTY: Value = { kind: 'empty' };

export const numberValue = (number: number, unit = ''): Quantity => ({ kind: 'number', number, unit });
export const textValue = (text: string): Value => ({ kind: 'text', text });
export const truthValue = (is: boolean): Value => ({ kind: 'truth', is });

export function isQuantity(value: Value): value is Quantity {
  return value.kind === 'number' || value.kind === 'money' || value.kind === 'duration';
}

const SECONDS_A_DAY = 86_400;
/** What binary fractions leave behind is beyond these digits. */
const DIGITS = 15;

/** Without the noise of binary fractions. */
export function plainNumber(number: number): number {
  return Number.isInteger(number) ? number + 0 : Number(number.toPrecision(DIGITS));
}

/** As a person reads it: a cell as it stands in the table, a result with its unit. */
export function valueText(value: Value): string {
  switch (value.kind) {
    case 'empty':
      return '';
    case 'text':
      return value.text;
    case 'truth':
      return String(value.is).toUpperCase();
    case 'date':
      return value.text ?? dateText(value);
    case 'duration':
      return value.text ?? durationText(value.number);
    case 'number':
    case 'money': {
      if (value.text !== undefined) return value.text;
      const number = String(plainNumber(value.number));
      return value.unit === '' ? number : `${number} ${value.unit}`;
    }
  }
}

/** For programs: numbers stay numbers, durations are seconds. */
export function valueJson(value: Value): CellValue {
  if (value.kind === 'empty') return null;
  if (value.kind === 'truth') return value.is;
  if (isQuantity(value)) return Number.isFinite(value.number) ? plainNumber(value.number) : null;
  return valueText(value);
}

/** ISO 8601, as exact as it is known. */
function dateText({ from, to }: Instant): string {
  const days = Math.floor(from);
  const iso = new Date(days * SECONDS_A_DAY * 1000).toISOString();
  const date = iso.slice(0, iso.indexOf('T'));
  if (from !== days) {
    const seconds = Math.round((from - days) * SECONDS_A_DAY);
    const two = (n: number) => String(n).padStart(2, '0');
    return `${date}T${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  }
  if (to - from > 300) return date.slice(0, -6);
  return to - from > 20 ? date.slice(0, -3) : date;
}

/** `2 d 3 h 5 min 7 s`. */
function durationText(seconds: number): string {
  const sign = seconds < 0 ? '-' : '';
  let left = plainNumber(Math.abs(seconds));
  const parts: string[] = [];
  for (const [unit, size] of [
    ['d', SECONDS_A_DAY],
    ['h', 3600],
    ['min', 60],
  ] as const) {
    const count = Math.floor(left / size);
    if (count > 0) parts.push(`${count} ${unit}`);
    left = plainNumber(left - count * size);
  }
  if (left > 0 || parts.length === 0) parts.push(`${left} s`);
  return sign + parts.join(' ');
}
