import { MeshError } from '../../../core/contracts/errors.ts';
import type { DateOrder } from '../values/date.ts';
import type { ColumnKind } from '../values/typed-column.ts';
import { EMPTY, type Value, valueText } from '../values/value.ts';
import { AGGREGATE_NAMES, AGGREGATES } from './aggregates.ts';
import { constantFor, EXAMPLES } from './compare.ts';
import { columnNamed } from './find-column.ts';
import type { Frame, FrameColumn } from './frame.ts';
import { FUNCTIONS, isTrue } from './functions.ts';
import type { Formula } from './parse-formula.ts';

/** A formula that can be asked for a row. */
export interface Compiled {
  /** The value for a row, where aggregates are over `rows`. */
  readonly at: (row: number, rows: readonly number[]) => Value;
  /** Columns that it reads. */
  readonly columns: readonly FrameColumn[];
  readonly hasAggregate: boolean;
}

interface Node extends Compiled {
  /** What a constant beside it is meant as. */
  readonly kind: ColumnKind | undefined;
  readonly order: DateOrder | undefined;
  readonly name: string;
  readonly constant?: Value;
}

const COMPARISONS = new Set(['=', '!=', '<', '<=', '>', '>=']);
const KINDS: Readonly<Record<string, ColumnKind>> = {
  year: 'number',
  month: 'number',
  day: 'number',
  quarter: 'number',
  number: 'number',
  length: 'number',
  days: 'number',
  hours: 'number',
  minutes: 'number',
  seconds: 'number',
  count: 'number',
  count_distinct: 'number',
  date: 'date',
  duration: 'duration',
};
/** Whose result is of the kind of what goes in. */
const SAME_KIND = new Set(
  'sum mean median min max first last mode + - * / abs round floor ceil negative coalesce'.split(' '),
);

/**
 * @throws MeshError `tool` for functions that are not there, wrong numbers of arguments, and constants that cannot be compared with the
 *   column beside them
 */
export function compileFormula(formula: Formula, frame: Frame): Compiled {
  const { at, columns, hasAggregate } = compiled(formula, frame);
  return { at, columns, hasAggregate };
}

function compiled(formula: Formula, frame: Frame): Node {
  switch (formula.is) {
    case 'constant': {
      const { value } = formula;
      return { ...leaf, at: () => value, constant: value, name: valueText(value) };
    }
    case 'column': {
      const column = columnNamed(frame, formula.name);
      const { values, kind, order } = column.typed();
      return {
        ...leaf,
        at: (row) => values[row] ?? EMPTY,
        columns: [column],
        kind,
        order,
        name: formula.name,
      };
    }
    case 'call': {
      const name = AGGREGATE_NAMES[formula.name] ?? formula.name;
      const of = formula.of.map((one) => compiled(one, frame));
      const isAggregate = Object.hasOwn(AGGREGATES, name) && of.length < 2;
      return isAggregate ? aggregate(name, of[0]) : scalar(name, of);
    }
  }
}

const leaf = { columns: [], hasAggregate: false, kind: undefined, order: undefined };

function aggregate(name: string, inner: Node | undefined): Node {
  if (inner?.hasAggregate === true)
    throw new MeshError(
      'tool',
      `${name}(…) of an aggregate has no meaning: aggregate in one step, and again in the next`,
    );
  const take = AGGREGATES[name];
  if (take === undefined || (inner === undefined && name !== 'count'))
    throw new MeshError('tool', `${name} needs a column or formula: ${name}(Sales)`);
  const known = new WeakMap<readonly number[], Value>();
  const at = (_: number, rows: readonly number[]) => {
    let value = known.get(rows);
    if (value === undefined) {
      value =
        inner === undefined
          ? { kind: 'number' as const, number: rows.length, unit: '' }
          : take(rows.map((row) => inner.at(row, rows)));
      known.set(rows, value);
    }
    return value;
  };
  return {
    at,
    columns: inner?.columns ?? [],
    hasAggregate: true,
    kind: KINDS[name] ?? inner?.kind,
    order: inner?.order,
    name,
  };
}

function scalar(name: string, of: readonly Node[]): Node {
  const found = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  const columns = [...new Set(of.flatMap((node) => node.columns))];
  const hasAggregate = of.some((node) => node.hasAggregate);
  if (found === undefined && (name === 'min' || name === 'max') && of.length > 1) {
    const take = AGGREGATES[name];
    const at: Node['at'] = (row, rows) => take?.(of.map((node) => node.at(row, rows))) ?? EMPTY;
    return { at, columns, hasAggregate, kind: of[0]?.kind, order: undefined, name };
  }
  if (found === undefined) throw unknownFunction(name);
  const [least, most] = found.takes;
  if (of.length < least || of.length > most)
    throw new MeshError(
      'tool',
      `${name} takes ${least === most ? least : `${least} to ${most}`} arguments, and ${of.length} were given`,
    );
  const meant = COMPARISONS.has(name) ? besideEachOther(name, of) : of;
  const kind =
    KINDS[name] ?? (SAME_KIND.has(name) ? of.find((node) => node.kind !== undefined)?.kind : undefined);
  const [first, second] = meant;
  // Two arguments are what nearly all of them have.
  const at: Node['at'] =
    name === 'and' && first !== undefined && second !== undefined
      ? (row, rows) =>
          isTrue(first.at(row, rows))
            ? found.of(first.at(row, rows), second.at(row, rows))
            : { kind: 'truth', is: false }
      : (row, rows) => found.of(...meant.map((node) => node.at(row, rows)));
  return { at, columns, hasAggregate, kind, order: of[0]?.order, name };
}

/** Constants are read as what they are compared with. */
function besideEachOther(operator: string, of: readonly Node[]): readonly Node[] {
  return of.map((node, at) => {
    const other = of[1 - at];
    if (node.constant === undefined || other?.kind === undefined || other.constant !== undefined) return node;
    const value = constantFor(node.constant, { kind: other.kind, order: other.order });
    if (value !== undefined) return { ...node, at: () => value };
    // Equal to what it cannot be is nothing, and that is an answer.
    const isText = operator === '=' || operator === '!=';
    if (isText && other.kind !== 'date' && other.kind !== 'duration') return node;
    throw new MeshError(
      'tool',
      `${JSON.stringify(other.name)} holds values of the kind ${other.kind}, and ${JSON.stringify(node.name)} is none: ${EXAMPLES[other.kind]}`,
    );
  });
}

function unknownFunction(name: string): MeshError {
  const own = Object.keys(FUNCTIONS).filter((one) => /^[a-z]/.test(one));
  return new MeshError(
    'tool',
    `there is no function ${name}: there are ${[...Object.keys(AGGREGATES), ...own].join(', ')}`,
  );
}
