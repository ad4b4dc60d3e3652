import type { Reading } from '../solution.ts';

const NAMED = new Map([
  ['binary', 2],
  ['octal', 8],
  ['decimal', 10],
  ['hexadecimal', 16],
  ['hex', 16],
]);
const BASE = String.raw`(binary|octal|decimal|hexadecimal|hex|base[- ](\d{1,2}))`;

/** A whole number in another base, or to and from Roman numerals. @param text with its numbers in figures */
export function readBases(text: string): Reading | undefined {
  return roman(text) ?? converted(text);
}

function converted(text: string): Reading | undefined {
  if (
    !/\b(?:convert\w*|written|write|expressed?|express|numbers?|numeral|represent\w*|notation|equivalent|what is|what's)\b/i.test(
      text,
    ) ||
    /\b(?:triangle|height|area|volume)\b/i.test(text)
  )
    return undefined;
  const bases = [...text.matchAll(new RegExp(`\\b${BASE}\\b`, 'gi'))].map((match) => ({
    base: NAMED.get((match[1] ?? '').toLowerCase()) ?? Number(match[2]),
    at: match.index,
  }));
  const candidates = [...text.matchAll(/(?<![\w.])(?:0x)?([0-9A-F]{1,64})(?![\w.]*\w)/gi)]
    .map((match) => ({ digits: match[1] ?? '', at: match.index }))
    .filter(({ digits, at }) =>
      /\d/.test(digits) || /^[A-F]{2,}$/.test(digits) ? !/\bbase[- ]$/i.test(text.slice(0, at)) : false,
    );
  const [number, more] = candidates;
  const [first, second] = bases;
  if (number === undefined || more !== undefined || first === undefined || bases.length > 2) return undefined;
  const { from, to } = direction(text, number.at, first, second);
  const value = parsed(number.digits, from);
  if (value === undefined || from === to || to < 2 || to > 36) return undefined;
  return {
    why: `${number.digits} in base ${from} is ${value} in base 10.`,
    done: value.toString(to).toUpperCase(),
  };
}

interface Base {
  readonly base: number;
  readonly at: number;
}

/** Which base the number is written in, and which is asked for; the one that is not named is ten. */
function direction(
  text: string,
  at: number,
  first: Base,
  second: Base | undefined,
): { from: number; to: number } {
  const isTarget = ({ at: place }: Base) =>
    /\b(?:to|into|in|as|what|which)\s+(?:an? |its )?$/i.test(text.slice(0, place)) &&
    !isSource({ base: 0, at: place });
  const isSource = ({ at: place }: Base) =>
    /\b(?:from|the|written in|given in)\s+$/i.test(text.slice(0, place)) ||
    (place > at &&
      /^\s*(?:is|are)?\s*(?:written|given|expressed)?\s*(?:in|\()\s*$/i.test(
        text.slice(at, place).replace(/^\w+/, ''),
      ) &&
      /\b(?:decimal|base[- ]10)\b/i.test(text));
  if (second !== undefined) {
    const isTurned = isTarget(first) && !isTarget(second);
    return isTurned || (first.base === 10 && isSource(second))
      ? { from: second.base, to: first.base }
      : { from: first.base, to: second.base };
  }
  return isTarget(first) && first.base !== 10 ? { from: 10, to: first.base } : { from: first.base, to: 10 };
}

function parsed(digits: string, base: number): bigint | undefined {
  let value = 0n;
  for (const digit of digits.toLowerCase()) {
    const worth = Number.parseInt(digit, 36);
    if (!(worth < base)) return undefined;
    value = value * BigInt(base) + BigInt(worth);
  }
  return value;
}

const ROMAN: readonly (readonly [string, number])[] = [
  ['M', 1000],
  ['CM', 900],
  ['D', 500],
  ['CD', 400],
  ['C', 100],
  ['XC', 90],
  ['L', 50],
  ['XL', 40],
  ['X', 10],
  ['IX', 9],
  ['V', 5],
  ['IV', 4],
  ['I', 1],
];

function roman(text: string): Reading | undefined {
  if (!/\broman\b/i.test(text)) return undefined;
  const numeral = /\b(?=[MDCLXVI]{2})M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})\b/.exec(
    text,
  )?.[0];
  if (numeral !== undefined) {
    let rest = numeral;
    let value = 0;
    for (const [sign, worth] of ROMAN) {
      while (rest.startsWith(sign)) {
        value += worth;
        rest = rest.slice(sign.length);
      }
    }
    return { why: `${numeral} is a Roman numeral.`, done: String(value) };
  }
  const [number, more] = text.match(/\b\d{1,4}\b/g) ?? [];
  if (number === undefined || more !== undefined || Number(number) < 1 || Number(number) > 3999)
    return undefined;
  let rest = Number(number);
  let written = '';
  for (const [sign, worth] of ROMAN) {
    while (rest >= worth) {
      written += sign;
      rest -= worth;
    }
  }
  return { why: `${number} is written with Roman numerals.`, done: written };
}
