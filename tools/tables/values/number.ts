import type { CellValue } from './value.ts';

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
  return sign * (isPercent ? dividePercent(number) : number) + 0;
}

/** Moves the decimal point of a number as it is written: 0.07 % is 0.0007. */
function dividePercent(number: number): number {
  const [mantissa, exponent] = number.toExponential().split('e');
  return Number(`${mantissa}e${Number(exponent) - 2}`);
}
