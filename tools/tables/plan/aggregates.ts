import { MeshError } from '../../../core/contracts/errors.ts';
import { decimalSum } from '../values/number.ts';
import {
  EMPTY,
  isQuantity,
  numberValue,
  plainNumber,
  type Quantity,
  textValue,
  type Value,
  valueText,
} from '../values/value.ts';
import { inUnitOf, keyOf, orderOf } from './compare.ts';

/** What several values come to. Empty cells and those of another kind are left out by whoever asks. */
export const AGGREGATES: Readonly<Record<string, (values: readonly Value[]) => Value>> = {
  sum: (values) => made(values, (numbers) => decimalSum(numbers)),
  mean: (values) => made(values, (numbers) => decimalSum(numbers) / numbers.length),
  median: (values) => made(values, median),
  min: (values) => extreme(values, -1),
  max: (values) => extreme(values, 1),
  range: (values) => made(values, (numbers) => decimalSum([Math.max(...numbers), -Math.min(...numbers)])),
  stdev: (values) => made(values, (numbers) => deviation(numbers)),
  count: (values) =>
    numberValue(
      values.filter((value) => (value.kind === 'truth' ? value.is : value.kind !== 'empty')).length,
    ),
  count_distinct: (values) => numberValue(new Set(filled(values).map(keyOf)).size),
  list: (values) => textValue(listText(filled(values))),
  mode: (values) => mostFrequent(filled(values)),
  first: (values) => filled(values)[0] ?? EMPTY,
  last: (values) => filled(values).at(-1) ?? EMPTY,
};

/** Other names for them, as people and other languages have them. */
export const AGGREGATE_NAMES: Readonly<Record<string, string>> = {
  avg: 'mean',
  average: 'mean',
  total: 'sum',
  minimum: 'min',
  maximum: 'max',
  std: 'stdev',
  stddev: 'stdev',
  nunique: 'count_distinct',
  most_common: 'mode',
};

const MAX_LIST_CHARACTERS = 10_000;

const filled = (values: readonly Value[]) => values.filter(({ kind }) => kind !== 'empty');

/** @throws MeshError `tool` for quantities that cannot be added: several currencies, or units of different things */
function made(values: readonly Value[], make: (numbers: readonly number[]) => number): Value {
  const quantities = values.flatMap((value): Quantity[] =>
    isQuantity(value) ? [value] : value.kind === 'truth' ? [numberValue(Number(value.is))] : [],
  );
  const [first] = quantities;
  if (first === undefined) return EMPTY;
  const lead = quantities.find(({ unit }) => unit !== '') ?? first;
  const numbers = quantities.map((quantity) => {
    const same = inUnitOf(quantity, lead);
    if (same !== undefined) return same.number;
    throw new MeshError(
      'tool',
      `${valueText(quantity)} and ${valueText(lead)} cannot be taken together: there is no rate or common unit; take one at a time, by a condition`,
    );
  });
  const number = make(numbers);
  if (!Number.isFinite(number)) throw new MeshError('tool', 'the result is too large for a number');
  return { kind: lead.kind, number: plainNumber(number), unit: lead.unit };
}

/** The middle value, or the mean of the two middle values. */
function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const [low = Number.NaN, high = low] = sorted.slice(Math.ceil(half) - 1, Math.floor(half) + 1);
  return (low + high) / 2;
}

/** Of a sample (n − 1); 0 of one value. */
function deviation(numbers: readonly number[]): number {
  const mean = decimalSum(numbers) / numbers.length;
  const squares = numbers.reduce((sum, number) => sum + (number - mean) ** 2, 0);
  return Math.sqrt(squares / Math.max(1, numbers.length - 1));
}

function extreme(values: readonly Value[], sign: 1 | -1): Value {
  return filled(values).reduce<Value>((best, value) => {
    if (best.kind === 'empty') return value;
    const order = orderOf(value, best);
    return order !== undefined && order * sign > 0 ? value : best;
  }, EMPTY);
}

function mostFrequent(values: readonly Value[]): Value {
  const times = new Map<string, number>();
  for (const value of values) times.set(keyOf(value), (times.get(keyOf(value)) ?? 0) + 1);
  const most = [...times.values()].reduce((a, b) => Math.max(a, b), 0);
  const found = [...times].filter(([, count]) => count === most).map(([key]) => key);
  const texts = found.map((key) => values.find((value) => keyOf(value) === key) ?? EMPTY);
  return texts.length === 1 ? (texts[0] ?? EMPTY) : textValue(listText(texts));
}

function listText(values: readonly Value[]): string {
  const text = values.map(valueText).join(', ');
  return text.length > MAX_LIST_CHARACTERS ? `${text.slice(0, MAX_LIST_CHARACTERS)}…`.toWellFormed() : text;
}
