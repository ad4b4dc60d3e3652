import { numberFromWords } from './number-words.ts';

/** How a number is to be rounded: to so many decimals, to a multiple (10, 100 …), or to so many significant digits. */
export type Rounding =
  | { readonly decimals: number }
  | { readonly multiple: number }
  | { readonly digits: number };

const COUNT = String.raw`(\d{1,2}|zero|one|two|three|four|five|six)`;
const PLACES: readonly (readonly [RegExp, Rounding])[] = [
  [
    /\bnearest (?:whole (?:number|\w+)|integer|unit|one\b)|\b(?:to|as) (?:a|an|the) (?:whole number|integer)\b/i,
    { decimals: 0 },
  ],
  [/\bnearest (?:tenth|0\.1)\b|\ba decimal place\b/i, { decimals: 1 }],
  [/\bnearest (?:hundredth|0\.01|cent|penny)\b/i, { decimals: 2 }],
  [/\bnearest (?:thousandth|0\.001)\b/i, { decimals: 3 }],
  [/\bnearest (?:ten|10)\b/i, { multiple: 10 }],
  [/\bnearest (?:hundred|100)\b/i, { multiple: 100 }],
  [/\bnearest (?:thousand|1,?000)\b/i, { multiple: 1000 }],
  [/\bnearest (?:million|1,?000,?000)\b/i, { multiple: 1e6 }],
];

/** What the question says about rounding; undefined where it says nothing. */
export function roundingAsked(question: string): Rounding | undefined {
  const decimals = new RegExp(
    `\\b${COUNT} (?:decimal(?: place| digit)?s?|digits? after the (?:decimal )?point)\\b`,
    'i',
  ).exec(question)?.[1];
  if (decimals !== undefined) return { decimals: countOf(decimals) };
  const digits = new RegExp(`\\b${COUNT} significant (?:figure|digit)s?\\b`, 'i').exec(question)?.[1];
  if (digits !== undefined) return { digits: Math.max(1, countOf(digits)) };
  // "the nearest metre" is the unit that the answer is in.
  const named = PLACES.find(([pattern]) => pattern.test(question))?.[1];
  return (
    named ??
    (/\bround(?:ed|ing)?\b[^.?!]{0,40}\bnearest [a-z]+\b/i.test(question) ? { decimals: 0 } : undefined)
  );
}

function countOf(word: string): number {
  return numberFromWords(word) ?? 0;
}

/** `value` rounded, halves away from zero, with as many decimals as were asked for. */
export function roundedText(value: number, rounding: Rounding): string {
  if (!Number.isFinite(value)) return String(value);
  if ('digits' in rounding) return String(Number(value.toPrecision(rounding.digits)));
  if ('multiple' in rounding) return String(halfUp(value / rounding.multiple) * rounding.multiple);
  const power = 10 ** rounding.decimals;
  const scaled = value * power;
  return Number.isSafeInteger(Math.round(scaled))
    ? (halfUp(scaled) / power).toFixed(rounding.decimals)
    : value.toFixed(rounding.decimals);
}

/** 1.005 × 100 is 100.49999999999999: what differs from a half by the last digits only is one. */
function halfUp(value: number): number {
  return Math.sign(value) * Math.floor(Math.abs(value) + 0.5 + Math.abs(value) * 4 * Number.EPSILON);
}

/** A number as people write it: 0.1 + 0.2 is 0.3. Twelve digits are more than a question gives. */
export function plainNumber(value: number): string {
  if (Number.isSafeInteger(value)) return String(value);
  const text = Number(value.toPrecision(12)).toString();
  return text.includes('e') ? plainExponent(Number(text)) : text;
}

function plainExponent(value: number): string {
  if (Math.abs(value) >= 1e21) return value.toString();
  return Math.abs(value) >= 1 ? BigInt(Math.round(value)).toString() : value.toFixed(20).replace(/0+$/, '');
}
