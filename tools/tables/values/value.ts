/** A cell of a file. Dates are texts in ISO 8601, errors texts such as `#DIV/0!`. */
export type CellValue = null | boolean | number | string;

/** A cell with its type. */
export type Value =
  | { readonly kind: 'empty' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'truth'; readonly is: boolean }
  | Quantity
  | Instant;

/** An amount. A `duration` is in seconds; a percentage is a fraction. */
export interface Quantity {
  readonly kind: 'number' | 'money' | 'duration';
  readonly number: number;
  /** `km`, `EUR`; empty for durations and amounts without a unit. */
  readonly unit: string;
}

/**
 * A date with its precision: `March 2024` extends from its first day to its last. In days since 1970, with fractions
 * for the time of day.
 */
export interface Instant {
  readonly kind: 'date';
  readonly from: number;
  readonly to: number;
}

export type Kind = Value['kind'];

export const EMPTY: Value = { kind: 'empty' };

export function isQuantity(value: Value): value is Quantity {
  return value.kind === 'number' || value.kind === 'money' || value.kind === 'duration';
}

const SECONDS_A_DAY = 86_400;
/** Significant digits kept; the noise of binary fractions begins beyond them. */
const DIGITS = 15;

/** Removes the noise of binary fractions. */
export function roundNoise(number: number): number {
  return Number.isInteger(number) ? number + 0 : Number(number.toPrecision(DIGITS));
}

/** Writes a date in ISO 8601, with the precision that it has. */
export function formatInstant({ from, to }: Instant): string {
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
