/** What a unit measures, as exponents: a speed is `{ length: 1, time: -1 }`. */
export type Dimension = Readonly<Record<string, number>>;

export interface Unit {
  /** As the calculator writes it. */
  readonly symbol: string;
  readonly dimension: Dimension;
}

export interface Quantity extends Unit {
  /** As the calculator writes it, unit and all. */
  readonly expression: string;
  readonly start: number;
  readonly end: number;
}

const length = { length: 1 };
const area = { length: 2 };
const volume = { length: 3 };
const time = { time: 1 };
const mass = { mass: 1 };

/** Names of units, as patterns, with the calculator's. Gallons, pints and tons are those of the United States unless it says imperial. */
const NAMES: readonly (readonly [names: string, symbol: string, dimension: Dimension])[] = [
  ['nautical miles?|nmi', '(1852 m)', length],
  ['kilomet(?:er|re)s?|kms?', 'km', length],
  ['centimet(?:er|re)s?|cms?', 'cm', length],
  ['millimet(?:er|re)s?|mms?', 'mm', length],
  ['met(?:er|re)s?|m', 'm', length],
  ['miles?|mi', 'mile', length],
  ['yards?|yds?', 'yard', length],
  ['feet|foot|ft', 'ft', length],
  ['inch(?:es)?', 'inch', length],
  ['square kilomet(?:er|re)s?|km²|km2|sq km', 'km^2', area],
  ['square centimet(?:er|re)s?|cm²|cm2', 'cm^2', area],
  ['square met(?:er|re)s?|m²|m2|sqm', 'm^2', area],
  ['square miles?', 'mile^2', area],
  ['square yards?', 'yard^2', area],
  ['square feet|square foot|sq ft', 'ft^2', area],
  ['square inch(?:es)?', 'inch^2', area],
  ['hectares?|ha', '(10000 m^2)', area],
  ['acres?', '(4046.8564224 m^2)', area],
  ['cubic met(?:er|re)s?|m³|m3', 'm^3', volume],
  ['cubic centimet(?:er|re)s?|cm³|cm3', 'cm^3', volume],
  ['cubic feet|cubic foot', 'ft^3', volume],
  ['cubic inch(?:es)?', 'inch^3', volume],
  ['millilit(?:er|re)s?|ml', '(0.001 L)', volume],
  ['centilit(?:er|re)s?|cl', '(0.01 L)', volume],
  ['lit(?:er|re)s?|l', 'L', volume],
  ['imperial gallons?', '(4.54609 L)', volume],
  ['imperial pints?', '(0.56826125 L)', volume],
  ['(?:us |american )?gallons?|gal', '(3.785411784 L)', volume],
  ['(?:us )?quarts?', '(0.946352946 L)', volume],
  ['(?:us )?pints?', '(0.473176473 L)', volume],
  ['(?:us )?fluid ounces?|fl oz', '(0.0295735295625 L)', volume],
  ['tablespoons?|tbsp', '(0.01478676478125 L)', volume],
  ['teaspoons?|tsp', '(0.00492892159375 L)', volume],
  ['milliseconds?|ms', '(0.001 s)', time],
  ['seconds?|secs?|s', 's', time],
  ['minutes?|mins?', '(60 s)', time],
  ['hours?|hrs?|h', '(3600 s)', time],
  ['days?', '(86400 s)', time],
  ['weeks?', '(604800 s)', time],
  ['fortnights?', '(1209600 s)', time],
  ['leap years?', '(31622400 s)', time],
  ['(?:non-leap |common )?years?', '(31536000 s)', time],
  ['milligrams?|mg', '(0.001 g)', mass],
  ['kilograms?|kilos?|kgs?', 'kg', mass],
  ['grams?|g', 'g', mass],
  ['tonnes?|metric tons?', '(1000 kg)', mass],
  ['(?:short )?tons?', '(907.18474 kg)', mass],
  ['pounds?|lbs?', '(0.45359237 kg)', mass],
  ['ounces?|oz', '(0.028349523125 kg)', mass],
  ['stones?', '(6.35029318 kg)', mass],
  ['knots?|kn', '(1852 m / (3600 s))', { length: 1, time: -1 }],
  ['mph', '(mile / (3600 s))', { length: 1, time: -1 }],
  ['km/?h|kph|kmph', '(km / (3600 s))', { length: 1, time: -1 }],
  ['degrees? celsius|°\\s?c|celsius|centigrade', 'degC', { temperature: 1 }],
  ['degrees? fahrenheit|°\\s?f|fahrenheit', 'degF', { temperature: 1 }],
  ['kelvins?', 'K', { temperature: 1 }],
  ['kilowatt[- ]hours?|kwh', '(3600000 J)', { energy: 1 }],
  ['kilocalories?|kcal', '(4184 J)', { energy: 1 }],
  ['kilojoules?|kj', '(1000 J)', { energy: 1 }],
  ['joules?', 'J', { energy: 1 }],
  ['kilobytes?|kb', '(8000 b)', { data: 1 }],
  ['megabytes?|mb', '(8000000 b)', { data: 1 }],
  ['gigabytes?|gb', '(8000000000 b)', { data: 1 }],
  ['terabytes?|tb', '(8000000000000 b)', { data: 1 }],
  ['bytes?', '(8 b)', { data: 1 }],
  ['megabits?|mbit', '(1000000 b)', { data: 1 }],
  ['bits?', 'b', { data: 1 }],
  ['dollars?|euros?|crowns?|francs?|cents?|pence|rupees?|yen', '1', { money: 1 }],
];

const ANY = `(?:${NAMES.map(([names]) => names).join('|')})(?![\\w²³])`;
const PER = String.raw`\s*(?:\bper\b|/|\b(?:for )?every\b|\b(?:for )?each\b|\ban?\b)\s*`;
const LOOKUP = NAMES.map(([names, symbol, dimension]) => ({
  name: new RegExp(`^(?:${names})$`, 'i'),
  symbol,
  dimension,
}));

/** A unit, and what it is per (`miles per hour`, `litres a minute`): two groups, for {@link unitNamed}. */
export const UNIT_PATTERN = `(${ANY})(?:${PER}(${ANY}))?`;

/** The unit of that name, or of one name per another. */
export function unitNamed(over: string | undefined, under?: string): Unit | undefined {
  const upper = LOOKUP.find(({ name }) => name.test(over ?? ''));
  if (upper === undefined || under === undefined) return upper;
  const lower = unitNamed(under);
  return (
    lower && {
      symbol: `(${upper.symbol} / ${lower.symbol})`,
      dimension: combined(upper.dimension, lower.dimension, -1),
    }
  );
}

/** The dimension of a product (`sign` 1) or a quotient (-1). */
export function combined(left: Dimension, right: Dimension, sign: 1 | -1): Dimension {
  const powers = new Map(Object.entries(left));
  for (const [name, power] of Object.entries(right)) powers.set(name, (powers.get(name) ?? 0) + sign * power);
  return Object.fromEntries([...powers].filter(([, power]) => power !== 0));
}

export function sameDimension(left: Dimension, right: Dimension): boolean {
  return Object.keys(combined(left, right, -1)).length === 0;
}

const NUMERAL = String.raw`\d[\d,]*(?:\.\d+)?`;
const QUANTITY = new RegExp(
  `[$€£]\\s?(?<sum>${NUMERAL})(?:${PER}(${ANY}))?|(?<![\\w.])(?<number>${NUMERAL})[\\s-]*(?:of an?\\s+)?${UNIT_PATTERN}`,
  'gi',
);

/** Quantities in a text whose numbers are figures; neighbours such as `2 hours and 40 minutes` are one. */
export function readQuantities(text: string): Quantity[] {
  const quantities: Quantity[] = [];
  for (const match of text.matchAll(QUANTITY)) {
    const quantity = quantityOf(match);
    if (quantity === undefined) continue;
    const previous = quantities.at(-1);
    const between = previous === undefined ? '' : text.slice(previous.end, quantity.start);
    if (previous !== undefined && /^(?:,?\s+and\s+|,?\s+)$/.test(between) && isNextPart(previous, quantity)) {
      const expression = `(${previous.expression} + ${quantity.expression})`;
      quantities[quantities.length - 1] = { ...previous, expression, end: quantity.end };
    } else {
      quantities.push(quantity);
    }
  }
  return quantities;
}

/** Times and lengths are written as a sum of parts: `5 feet 11 inches`. Two prices one after the other are two. */
function isNextPart(previous: Quantity, next: Quantity): boolean {
  return (
    sameDimension(previous.dimension, next.dimension) &&
    previous.symbol !== next.symbol &&
    !('money' in next.dimension)
  );
}

function quantityOf(match: RegExpExecArray): Quantity | undefined {
  const { groups, index: start } = match;
  const end = start + match[0].length;
  const [, , perMoney, , over, under] = match;
  const money: Unit = { symbol: '1', dimension: { money: 1 } };
  const number = (groups?.sum ?? groups?.number ?? '').replaceAll(',', '');
  if (groups?.sum !== undefined) {
    const per = unitNamed(perMoney);
    if (per === undefined) return { expression: number, ...money, start, end };
    const dimension = combined(money.dimension, per.dimension, -1);
    return {
      expression: `(${number} / ${per.symbol})`,
      symbol: `(1 / ${per.symbol})`,
      dimension,
      start,
      end,
    };
  }
  const unit = unitNamed(over, under);
  return unit && { expression: `(${number} ${times(unit.symbol)})`, ...unit, start, end };
}

/** `3 (60 s)` would be a product too, but not to every reader. */
function times(symbol: string): string {
  return symbol.startsWith('(') || symbol === '1' ? `* ${symbol}` : symbol;
}
