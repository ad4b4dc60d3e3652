import type { Reading } from '../solution.ts';
import {
  combined,
  type Quantity,
  readQuantities,
  sameDimension,
  UNIT_PATTERN,
  type Unit,
  unitNamed,
} from './units.ts';

const ASKED = [
  new RegExp(`\\bhow many ${UNIT_PATTERN}`, 'i'),
  new RegExp(`\\b(?:in|into|to|as|using) (?:units of )?${UNIT_PATTERN}`, 'i'),
  new RegExp(`\\bnumber of ${UNIT_PATTERN}`, 'i'),
];

/**
 * One quantity in another unit, or two that make a third: distance from speed and time, time from volume and flow. Which of
 * them are multiplied or divided follows from the dimensions alone, so that nothing is guessed.
 *
 * @param text the question with its numbers in figures
 */
export function readConversion(text: string): Reading | undefined {
  const { quantities, rest } = quantitiesIn(text);
  const [first, second, third] = quantities;
  const asked = askedUnit(rest, quantities);
  if (
    first === undefined ||
    asked === undefined ||
    third !== undefined ||
    /\d/.test(withoutQuantities(text, quantities))
  )
    return undefined;
  if (second === undefined) return convert(first, asked);
  return related(first, second, asked);
}

/** The quantities of a text; where it has none, `a week` counts as one. `rest` has a gap where each stood. */
function quantitiesIn(text: string): { quantities: Quantity[]; rest: string } {
  let quantities = readQuantities(text);
  if (quantities.length === 0) {
    const one = text.replace(/\b(in|is|are|does|make|makes|makes up|of) (?:an?|one) (?=[a-z])/gi, '$1 1 ');
    quantities = one === text ? [] : readQuantities(one);
    return { quantities, rest: withoutQuantities(one, quantities) };
  }
  return { quantities, rest: withoutQuantities(text, quantities) };
}

function withoutQuantities(text: string, quantities: readonly Quantity[]): string {
  let rest = '';
  let from = 0;
  for (const { start, end } of quantities) {
    rest += `${text.slice(from, start)} … `;
    from = end;
  }
  return rest + text.slice(from);
}

function askedUnit(rest: string, quantities: readonly Quantity[]): Unit | undefined {
  for (const pattern of ASKED) {
    const match = pattern.exec(rest);
    const unit = match === null ? undefined : unitNamed(match[1], match[2]);
    if (unit !== undefined) return unit;
  }
  // "How far does it get" asks for a length in the unit that the speed is in.
  if (/\bhow (?:far|long a (?:way|distance))\b|\b(?:what|which) distance\b/i.test(rest))
    return unitWith(quantities, { length: 1 });
  if (/\baverage speed\b|\bhow fast\b|\bwhat speed\b/i.test(rest)) {
    const [way, time] = [unitWith(quantities, { length: 1 }), unitWith(quantities, { time: 1 })];
    return way && time && { symbol: `(${way.symbol} / ${time.symbol})`, dimension: { length: 1, time: -1 } };
  }
  if (/\bhow much\b.*\b(?:cost|pay|costs|spend|earn|price)\b/i.test(rest))
    return { symbol: '1', dimension: { money: 1 } };
  return undefined;
}

function unitWith(quantities: readonly Quantity[], dimension: Record<string, number>): Unit | undefined {
  const own = quantities.find((quantity) => sameDimension(quantity.dimension, dimension));
  if (own !== undefined) return own;
  const [name = ''] = Object.keys(dimension);
  const rate = quantities.find((quantity) => Object.hasOwn(quantity.dimension, name));
  // A symbol such as `(km / (3600 s))`: the part above or below the line.
  const parts = /^\((.+) \/ (.+)\)$/.exec(rate?.symbol ?? '');
  const symbol = (rate?.dimension[name] ?? 0) > 0 ? parts?.[1] : parts?.[2];
  return symbol === undefined ? undefined : { symbol, dimension };
}

function convert(quantity: Quantity, asked: Unit): Reading | undefined {
  if (!sameDimension(quantity.dimension, asked.dimension) || quantity.symbol === asked.symbol)
    return undefined;
  if ('temperature' in asked.dimension) {
    return { why: 'A temperature is converted.', expression: `${quantity.expression} to ${asked.symbol}` };
  }
  return {
    why: 'A quantity is converted into another unit.',
    expression: `${quantity.expression} / ${one(asked)}`,
  };
}

function related(first: Quantity, second: Quantity, asked: Unit): Reading | undefined {
  const ways = [
    {
      expression: `${first.expression} * ${second.expression}`,
      dimension: combined(first.dimension, second.dimension, 1),
    },
    {
      expression: `${first.expression} / ${second.expression}`,
      dimension: combined(first.dimension, second.dimension, -1),
    },
    {
      expression: `${second.expression} / ${first.expression}`,
      dimension: combined(second.dimension, first.dimension, -1),
    },
  ];
  const fitting = ways.filter(({ dimension }) => sameDimension(dimension, asked.dimension));
  const [way] = fitting;
  if (way === undefined || fitting.length > 1) return undefined;
  return {
    why: 'Two quantities make the one that is asked for.',
    expression: `${way.expression} / ${one(asked)}`,
  };
}

function one({ symbol }: Unit): string {
  return symbol.startsWith('(') || symbol === '1' ? symbol : `(1 ${symbol})`;
}
