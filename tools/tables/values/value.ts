/** A cell of a file. Dates are texts in ISO 8601, errors texts such as `#DIV/0!`. */
export type CellValue = null | boolean | number | string;

/** Significant digits kept; the noise of binary fractions begins beyond them. */
const DIGITS = 15;

/** Removes the noise of binary fractions. */
export function roundNoise(number: number): number {
  return Number.isInteger(number) ? number + 0 : Number(number.toPrecision(DIGITS));
}
