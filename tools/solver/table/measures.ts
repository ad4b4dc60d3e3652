import type { Column } from './columns.ts';

/** An adjective that asks for the end of a scale, or compares with a number on it. */
export interface Measure {
  readonly end: 'max' | 'min';
  /** Words for what is measured, for a column's name; none where the question names it itself. */
  readonly names: readonly string[];
  /** On a scale of years and dates the end is this one: the oldest is from the smallest year. */
  readonly inTime?: 'max' | 'min';
}

const height = ['height', 'elevation', 'altitude'];
const length = ['length', 'distance', 'duration', 'minutes', 'pages', 'hours', 'days'];
const price = ['price', 'cost', 'fare', 'amount', 'fee', 'rent', 'rate', 'value', 'total'];
const size = ['size', 'area', 'population', 'volume', 'capacity', 'total', 'amount'];
const time = ['date', 'year', 'time', 'built', 'founded', 'opened', 'born', 'published'];

const max = (...names: string[]): Measure => ({ end: 'max', names });
const min = (...names: string[]): Measure => ({ end: 'min', names });

const MEASURES: ReadonlyMap<string, Measure> = new Map(
  Object.entries({
    tall: max(...height),
    high: max(...height),
    low: min(...height),
    long: max(...length),
    short: min(...length, ...height),
    deep: max('depth'),
    shallow: min('depth'),
    wide: max('width', 'breadth'),
    narrow: min('width', 'breadth'),
    heavy: max('weight', 'mass'),
    light: min('weight', 'mass'),
    fast: max('speed', 'velocity'),
    quick: min('time', 'minutes', 'seconds', 'duration'),
    slow: min('speed', 'velocity'),
    hot: max('temperature'),
    warm: max('temperature'),
    cold: min('temperature'),
    cool: min('temperature'),
    big: max(...size),
    large: max(...size),
    small: min(...size),
    cheap: min(...price),
    dear: max(...price),
    pricey: max(...price),
    expensive: max(...price),
    costly: max(...price),
    old: { end: 'max', names: ['age'], inTime: 'min' },
    young: { end: 'min', names: ['age'], inTime: 'max' },
    new: { end: 'max', names: [], inTime: 'max' },
    recent: { end: 'max', names: time, inTime: 'max' },
    early: { end: 'min', names: time, inTime: 'min' },
    late: { end: 'max', names: time, inTime: 'max' },
    populous: max('population', 'inhabitants', 'residents'),
    popular: max('visitors', 'votes', 'rating', 'sales', 'sold', 'loans', 'views', 'downloads', 'popularity'),
    rich: max('wealth', 'income', 'money'),
    good: max('score', 'rating', 'points', 'grade', 'mark'),
    bad: min('score', 'rating', 'points', 'grade', 'mark'),
    great: max(),
    many: max(),
    few: min(),
    strong: max('strength', 'power', 'force'),
    loud: max('volume', 'decibels', 'loudness'),
    bright: max('brightness', 'luminosity', 'lumens'),
    far: max('distance'),
    near: min('distance'),
    close: min('distance'),
    steep: max('slope', 'gradient'),
    wet: max('rainfall', 'rain', 'precipitation'),
    dry: min('rainfall', 'rain', 'precipitation'),
    busy: max('visitors', 'passengers', 'traffic', 'customers', 'sales'),
    profitable: max('profit', 'revenue', 'earnings'),
  }),
);

const SUPERLATIVES = new Map(
  Object.entries({
    most: 'many',
    highest: 'high',
    maximum: 'many',
    maximal: 'many',
    max: 'many',
    greatest: 'great',
    top: 'many',
    least: 'few',
    fewest: 'few',
    minimum: 'few',
    min: 'few',
    minimal: 'few',
    best: 'good',
    worst: 'bad',
    latest: 'late',
    last: 'late',
    furthest: 'far',
    farthest: 'far',
    eldest: 'old',
    first: 'early',
  }),
);
const COMPARATIVES = new Map(
  Object.entries({
    more: 'many',
    greater: 'great',
    less: 'few',
    fewer: 'few',
    better: 'good',
    worse: 'bad',
    later: 'late',
    further: 'far',
  }),
);

/** What a superlative or comparative measures: `tallest`, `longer`, `most`. Undefined for other words. */
export function measureOf(word: string, form: 'est' | 'er'): Measure | undefined {
  const lower = word.toLowerCase();
  const irregular = (form === 'est' ? SUPERLATIVES : COMPARATIVES).get(lower);
  if (irregular !== undefined) return MEASURES.get(irregular);
  if (!lower.endsWith(form)) return undefined;
  const bare = lower.slice(0, -form.length);
  const candidates = [bare, `${bare}e`, bare.replace(/i$/, 'y'), bare.replace(/(.)\1$/, '$1')];
  return candidates.map((candidate) => MEASURES.get(candidate)).find((measure) => measure !== undefined);
}

/** `most expensive`, `least popular`: the adjective's measure, turned round for the least. */
export function measureOfPair(adverb: string, adjective: string): Measure | undefined {
  const lower = adjective.toLowerCase();
  const measure = MEASURES.get(lower) ?? MEASURES.get(lower.replace(/ly$/, ''));
  if (measure === undefined || !/^(?:most|least|more|less)$/i.test(adverb)) return undefined;
  if (/^mo/i.test(adverb)) return measure;
  const other = (end: 'max' | 'min') => (end === 'max' ? 'min' : 'max');
  return {
    ...measure,
    end: other(measure.end),
    ...(measure.inTime === undefined ? {} : { inTime: other(measure.inTime) }),
  };
}

/** Which end of the column is meant. */
export function endIn(measure: Measure, column: Column): 'max' | 'min' {
  return column.kind === 'year' || column.kind === 'date' ? (measure.inTime ?? measure.end) : measure.end;
}

/** Whether two words name the same measure: `height` and `elevation`, `price` and `cost`. */
export function nameSameMeasure(one: string, other: string): boolean {
  const [left, right] = [one, other].map((word) => word.replace(/s$/, ''));
  return SAME.some((names) =>
    [left, right].every((word) => names.some((name) => name.replace(/s$/, '') === word)),
  );
}

const SAME: readonly (readonly string[])[] = [
  height,
  ['length', 'distance'],
  ['duration', 'time', 'minutes', 'hours', 'runtime'],
  ['price', 'cost', 'fare', 'fee', 'amount', 'charge', 'expense', 'spending'],
  ['revenue', 'income', 'earnings', 'takings', 'sales', 'turnover', 'proceeds'],
  ['weight', 'mass'],
  ['population', 'inhabitants', 'residents', 'people'],
  ['rainfall', 'rain', 'precipitation'],
  ['score', 'points', 'grade', 'mark', 'rating'],
  ['quantity', 'amount', 'units', 'number', 'count', 'stock'],
  ['visitors', 'guests', 'visits', 'attendance'],
  ['salary', 'wage', 'pay', 'income', 'earnings'],
  ['area', 'size', 'surface'],
];
