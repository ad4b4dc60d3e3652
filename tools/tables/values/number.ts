import type { CellValue } from './typed-column.ts';

const SPACES = /[\s\u00a0\u202f']/g;
const CURRENCY =
  /^(?:US\$|[$€£¥₹₽₩]|USD|EUR|GBP|JPY|CHF|CAD|AUD)|(?:[$€£¥₹₽₩]|USD|EUR|GBP|JPY|CHF|CAD|AUD)$/i;
const PLAIN = /^\d*\.?\d+(?:e[+-]?\d{1,3})?$|^\d+\.$/i;
/** `1,234,567.89`, and `1.234.567,89`; one point before three digits is a decimal point. */
const COMMA_GROUPS = /^\d{1,3}(?:,\d{3})+(?:\.\d*)?$/;
const POINT_GROUPS = /^\d{1,3}(?:\.\d{3})+,\d+$|^\d{1,3}(?:\.\d{3}){2,}$/;
const DECIMAL_COMMA = /^\d+,(?:\d{1,2}|\d{4,})$/;
/** Maximum length of a number; longer texts are prose. */
const MAX_CHARACTERS = 60;

/**
 * Parses the number in a cell: also `1,234`, `$5`, `5 €`, `(5)` for −5, `12%` for 0.12 and `3,5`. Returns undefined for
 * everything else, including dates and `5 km`.
 */
export function parseNumber(value: CellValue): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.length > MAX_CHARACTERS) return undefined;
  let text = value.replace(SPACES, '').replace('−', '-');
  let sign = 1;
  if (/^\(.*\)$/.test(text)) {
    text = text.slice(1, -1);
    sign = -1;
  }
  const isPercent = text.endsWith('%');
  if (isPercent) text = text.slice(0, -1);
  // A currency stands before the sign or after it.
  text = text.replace(CURRENCY, '');
  if (/^[+-]/.test(text)) {
    if (text.startsWith('-')) sign = -sign;
    text = text.slice(1).replace(CURRENCY, '');
  }
  if (COMMA_GROUPS.test(text)) text = text.replaceAll(',', '');
  else if (POINT_GROUPS.test(text)) text = text.replaceAll('.', '').replace(',', '.');
  else if (DECIMAL_COMMA.test(text)) text = text.replace(',', '.');
  if (!PLAIN.test(text)) return undefined;
  const number = Number(text);
  if (!Number.isFinite(number)) return undefined;
  return sign * (isPercent ? sumDecimals([number], 2) : number) + 0;
}

/**
 * Sums numbers as on paper: 0.1 + 0.2 is 0.3, in any order. `shift` moves the decimal point to the left.
 *
 * Each number is read as the decimal that it is written as, with 15 digits if it has a fraction, and added exactly.
 */
export function sumDecimals(numbers: Iterable<number>, shift = 0): number {
  let total = 0n;
  let places = 0;
  for (const number of numbers) {
    const written = Number.isInteger(number) ? number.toExponential() : number.toExponential(14);
    const [mantissa = '0', exponent = '0'] = written.split('e');
    const [whole = '0', fraction = ''] = mantissa.split('.');
    let digits = BigInt(whole + fraction);
    const own = fraction.length - Number(exponent);
    if (own > places) {
      total *= 10n ** BigInt(own - places);
      places = own;
    } else {
      digits *= 10n ** BigInt(places - own);
    }
    total += digits;
  }
  return Number(`${total}e${-places - shift}`) + 0;
}
