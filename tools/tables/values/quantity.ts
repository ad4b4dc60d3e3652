import { parseNumber } from './number.ts';
import type { Quantity } from './value.ts';

/** The decimal mark of a number. */
export type DecimalMark = '.' | ',';

const CURRENCIES: Readonly<Record<string, string>> = {
  $: 'USD',
  us$: 'USD',
  '€': 'EUR',
  '£': 'GBP',
  '¥': 'JPY',
  '₹': 'INR',
  '₽': 'RUB',
  '₩': 'KRW',
};
const CODE = /USD|EUR|GBP|JPY|CHF|CAD|AUD|INR|CNY|SEK|NOK|DKK|PLN|CZK|BRL|MXN|ZAR|NZD|SGD|HKD|KRW|RUB|TRY/;
const CURRENCY = new RegExp(`US\\$|[$€£¥₹₽₩]|\\b(?:${CODE.source})\\b`, 'i');
const SCALES: Readonly<Record<string, number>> = {
  thousand: 1e3,
  million: 1e6,
  billion: 1e9,
  trillion: 1e12,
  k: 1e3,
  mn: 1e6,
  m: 1e6,
  bn: 1e9,
  b: 1e9,
};
/** Letters that mean a number's size only beside a currency: `5 m` alone is five metres. */
const SCALE_WORD = /^(thousand|million|billion|trillion)\b\s*/i;
const SCALE_LETTER = /^(k|mn|m|bn|b)\b\s*/i;
/** Matches a number and the unit after it. */
const WITH_UNIT =
  /^([-+−(]?\s*[\d.,' \u00a0\u202f]*\d\)?)\s*(\p{L}[\p{L}\d²³/·^.-]{0,14}|°\s?\p{L}?|[²³'"])?\s*$/u;
/** `1,234[5]`, `12*`, `7†`: marks of notes below the table. */
const NOTE_MARK = /(?:\s*\[[^\]]{1,12}\]|[*†‡])+$/u;
const MAX_CHARACTERS = 60;

/** Units of one measure, each in terms of the first. */
const MEASURES: readonly Readonly<Record<string, number>>[] = [
  {
    m: 1,
    mm: 0.001,
    cm: 0.01,
    km: 1000,
    metres: 1,
    meters: 1,
    mi: 1609.344,
    miles: 1609.344,
    ft: 0.3048,
    feet: 0.3048,
  },
  { g: 1, mg: 0.001, kg: 1000, t: 1e6, tonnes: 1e6, lb: 453.59237, lbs: 453.59237, oz: 28.349523125 },
  { l: 1, ml: 0.001, cl: 0.01, hl: 100, litres: 1, liters: 1 },
  { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12, kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3 },
  { w: 1, kw: 1e3, mw: 1e6, gw: 1e9 },
];

/**
 * Parses a text that is a quantity: a number as {@link parseNumber} reads it, with a currency, a word for its size
 * (`1.2 million`) or a unit (`5 km`). `mark` is the decimal mark that the column's other cells show.
 */
export function parseQuantity(text: string, mark?: DecimalMark): Quantity | undefined {
  if (text.length > MAX_CHARACTERS || !/\d/.test(text)) return undefined;
  const plain = text.trim().replace(NOTE_MARK, '');
  const currency = CURRENCY.exec(plain)?.[0];
  const unit = currency === undefined ? '' : (CURRENCIES[currency.toLowerCase()] ?? currency.toUpperCase());
  const kind = currency === undefined ? ('number' as const) : ('money' as const);
  const number = parseNumber(replaceMark(plain, mark));
  if (number !== undefined) return { kind, number, unit };
  const rest = currency === undefined ? plain : plain.replace(CURRENCY, '').trim();
  const at = rest.search(/\p{L}/u);
  const [head, tail] = at < 0 ? [rest, ''] : [rest.slice(0, at).trim(), rest.slice(at)];
  const scale = SCALE_WORD.exec(tail) ?? (currency === undefined ? null : SCALE_LETTER.exec(tail));
  if (scale !== null) {
    const base = parseNumber(replaceMark(head, mark));
    const left = tail.slice(scale[0].length).trim();
    if (base === undefined || left.length > 15 || /\d/.test(left) || (currency !== undefined && left !== ''))
      return undefined;
    const size = SCALES[(scale[1] ?? '').toLowerCase()] ?? 1;
    return { kind, number: Number((base * size).toPrecision(15)), unit: unit || left };
  }
  const parts = WITH_UNIT.exec(rest);
  if (parts === null || currency !== undefined || parts[2] === undefined) return undefined;
  const value = parseNumber(replaceMark((parts[1] ?? '').trim(), mark));
  return value === undefined ? undefined : { kind, number: value, unit: parts[2].replace(/\.$/, '') };
}

/** Applies the column's decimal mark: `1.234` is a thousand when the other cells are like `5,50`. */
function replaceMark(text: string, mark: DecimalMark | undefined): string {
  if (mark === ',' && /^\D*\d{1,3}(?:\.\d{3})+\D*$/.test(text)) return text.replaceAll('.', '');
  if (mark === ',' && /^\D*\d+,\d{3}\D*$/.test(text)) return text.replace(',', '.');
  return text;
}

/** Returns the only decimal mark that a text allows; undefined when it allows both. */
export function detectMark(text: string): DecimalMark | undefined {
  const digits = /\d[\d.,]*/.exec(text)?.[0] ?? '';
  if (/^\d{1,3}(?:\.\d{3})+,\d+$|^\d{1,3}(?:\.\d{3}){2,}$|^\d+,(?:\d{1,2}|\d{4,})$|^\d{4,},\d+$/.test(digits))
    return ',';
  if (
    /^\d{1,3}(?:,\d{3})+\.\d+$|^\d{1,3}(?:,\d{3}){2,}$|^\d+\.(?:\d{1,2}|\d{4,})$|^\d{4,}\.\d+$/.test(digits)
  )
    return '.';
  return undefined;
}

/** Returns the number of `to` in one `from`; undefined when they measure different things. */
export function findConversion(from: string, to: string): number | undefined {
  const [one, other] = [from.toLowerCase(), to.toLowerCase()];
  if (one === other || `${one}s` === other || one === `${other}s`) return 1;
  const measure = MEASURES.find((units) => Object.hasOwn(units, one) && Object.hasOwn(units, other));
  return measure === undefined ? undefined : (measure[one] ?? 1) / (measure[other] ?? 1);
}

export function isKnownUnit(unit: string): boolean {
  return MEASURES.some((units) => Object.hasOwn(units, unit.toLowerCase()));
}
