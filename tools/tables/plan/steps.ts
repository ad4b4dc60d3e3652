import { MeshError } from '../../../core/contracts/errors.ts';
import { EMPTY, numberValue, type Value, valueText } from '../values/value.ts';
import { keyOf, orderOf } from './compare.ts';
import { type Compiled, compileFormula } from './compile-formula.ts';
import { filterRows, testsOf } from './filter-rows.ts';
import { columnNamed, columnNames } from './find-column.ts';
import { columnOfValues, type Frame, pickRows, rowsOf, uniqueNames, withColumn } from './frame.ts';
import { FUNCTIONS } from './functions.ts';
import { joinFrames, stackFrames } from './join-frames.ts';
import { type NamedFormula, parseFormula, parseFormulas } from './parse-formula.ts';
import type { Step } from './plan.ts';

/** More columns than these are no table that anybody reads. */
const MAX_PIVOT_COLUMNS = 200;

/** What a step may ask for beside the frame it is given. */
interface StepWork {
  /** The table of another sheet or file. */
  readonly tableOf: (file: string | undefined, sheet: string | undefined) => Frame;
  readonly notes: string[];
}

/** @throws MeshError `tool`, naming what is missing or does not fit */
export function performStep(frame: Frame, step: Step, { tableOf, notes }: StepWork): Frame {
  switch (step.do) {
    case 'where': {
      const tests = testsOf(needed(step.formula, 'where', 'formula', "Sales > 100 and City = 'Oslo'"), frame);
      const kept = filterRows(frame, tests, notes);
      notes.push(`where: ${kept.size} of ${frame.size} rows matched.`);
      return kept;
    }
    case 'derive':
      return derive(frame, step);
    case 'select':
      return select(frame, formulasOf(frame, step, 'select', 'City, Sales / Units as Price'));
    case 'group':
      return group(frame, step);
    case 'count':
      return { columns: [columnOfValues('count', [numberValue(frame.size)])], size: 1, labels: undefined };
    case 'order':
      return order(frame, keysOf(frame, step, 'order'), notes);
    case 'rank':
      return rank(frame, step);
    case 'difference':
      return difference(frame, step);
    case 'pivot':
      return pivot(frame, step);
    case 'pick': {
      const count = step.rows ?? 1;
      const all = rowsOf(frame);
      return pickRows(frame, count < 0 ? all.slice(count) : all.slice(0, count));
    }
    case 'join':
    case 'left_join':
      return joinFrames(
        frame,
        tableOf(step.file, step.sheet),
        { on: step.formula, keepsAll: step.do === 'left_join' },
        notes,
      );
    case 'append':
      return stackFrames([frame, tableOf(step.file, step.sheet)]);
  }
}

function needed(value: string | undefined, step: string, field: string, example: string): string {
  if (value !== undefined && value.trim() !== '') return value;
  throw new MeshError('tool', `step ${step} needs \`${field}\`: ${example}`);
}

function formulasOf(frame: Frame, { by = '', formula }: Step, step: string, example: string): NamedFormula[] {
  const columns = by.trim() === '' ? [] : parseFormulas(by, frame);
  const made = formula === undefined ? [] : parseFormulas(formula, frame);
  if (columns.length + made.length > 0) return [...columns, ...made];
  throw new MeshError(
    'tool',
    `step ${step} needs \`by\` or \`formula\`, such as ${example}; columns are ${columnNames(frame)}`,
  );
}

function derive(frame: Frame, step: Step): Frame {
  const formulas = parseFormulas(needed(step.formula, 'derive', 'formula', 'Sales / Units as Price'), frame);
  return formulas.reduce((made, { formula, name }) => {
    const column = columnOf(frame, compileFormula(formula, frame), name);
    return withColumn(made, column);
  }, frame);
}

function columnOf(frame: Frame, { at }: Compiled, name: string) {
  const rows = rowsOf(frame);
  return columnOfValues(
    name,
    rows.map((row) => at(row, rows)),
  );
}

function select(frame: Frame, formulas: readonly NamedFormula[]): Frame {
  const compiled = formulas.map(({ formula, name }) => ({
    name,
    formula,
    ...compileFormula(formula, frame),
  }));
  // Of aggregates alone there is one row, as in SQL.
  if (compiled.every(({ hasAggregate }) => hasAggregate) && compiled.length > 0)
    return group(frame, { do: 'group' }, formulas);
  const names = uniqueNames(compiled.map(({ name }) => name));
  const columns = compiled.map((one, i) => ({
    ...(one.formula.is === 'column' ? columnNamed(frame, one.formula.name) : columnOf(frame, one, one.name)),
    name: names[i] ?? one.name,
  }));
  return { ...frame, columns };
}

/** Rows by the values of some columns, in the order in which they come first. */
function groupsOf(frame: Frame, keys: readonly Compiled[]): number[][] {
  const rows = rowsOf(frame);
  const groups = new Map<string, number[]>();
  for (const row of rows) {
    const key = keys.map(({ at }) => keyOf(at(row, rows))).join('\u0001');
    const own = groups.get(key);
    if (own === undefined) groups.set(key, [row]);
    else own.push(row);
  }
  return [...groups.values()];
}

function group(frame: Frame, { by, formula }: Step, given?: readonly NamedFormula[]): Frame {
  const keys = keysIn(by, frame);
  const made = given ?? (formula === undefined ? [] : parseFormulas(formula, frame));
  const values = made.map((one) => ({ ...one, ...compileFormula(one.formula, frame) }));
  const keyNames = new Set(keys.map((key) => key.name));
  const loose = values.find(
    ({ hasAggregate, columns, formula: own }) =>
      !hasAggregate && columns.length > 0 && !(own.is === 'column' && keyNames.has(own.name)),
  );
  if (loose !== undefined)
    throw new MeshError(
      'tool',
      `in a group ${JSON.stringify(loose.name)} has many values: say which, as sum(${loose.name}), mean, median, min, max, count, list, first or last`,
    );
  const groups = keys.length === 0 ? [rowsOf(frame)] : groupsOf(frame, keys);
  const columns = [...keys, ...values];
  const names = uniqueNames(columns.map(({ name }) => name));
  return {
    columns: columns.map(({ at }, i) =>
      columnOfValues(
        names[i] ?? '',
        groups.map((rows) => (rows[0] === undefined && i < keys.length ? EMPTY : at(rows[0] ?? -1, rows))),
      ),
    ),
    size: groups.length,
    labels: undefined,
  };
}

interface Key extends Compiled {
  readonly isDescending: boolean;
  readonly name: string;
}

/** Columns and formulas with what they give. */
function keysIn(by: string | undefined, frame: Frame): (Key & NamedFormula)[] {
  if (by === undefined || by.trim() === '') return [];
  return parseFormulas(by, frame).map((key) => ({ ...key, ...compileFormula(key.formula, frame) }));
}

function keysOf(frame: Frame, { by, formula }: Step, step: string): Key[] {
  const keys = keysIn(by ?? formula, frame);
  if (keys.length > 0) return keys;
  throw new MeshError(
    'tool',
    `step ${step} needs \`by\`, such as "Sales desc"; columns are ${columnNames(frame)}`,
  );
}

/** Rows in order; what has no value, or one of another kind, comes last. Equal rows stay as they were. */
function ordered(
  frame: Frame,
  keys: readonly Key[],
): { rows: number[]; compare: (a: number, b: number) => number } {
  const rows = rowsOf(frame);
  const columns = keys.map(({ at, isDescending }) => ({
    values: rows.map((row) => at(row, rows)),
    isDescending,
  }));
  const compare = (a: number, b: number) => {
    for (const { values, isDescending } of columns) {
      const order = compareValues(values[a] ?? EMPTY, values[b] ?? EMPTY, isDescending);
      if (order !== 0) return order;
    }
    return 0;
  };
  return { rows: rows.toSorted((a, b) => compare(a, b) || a - b), compare };
}

/** Quantities and dates before texts, empty ones last, whichever way the order goes. */
function compareValues(a: Value, b: Value, isDescending: boolean): number {
  const class_ = ({ kind }: Value) => (kind === 'empty' ? 3 : kind === 'text' ? 2 : kind === 'date' ? 1 : 0);
  if (class_(a) !== class_(b)) return class_(a) - class_(b);
  const order = orderOf(a, b) ?? 0;
  return isDescending ? -order : order;
}

function order(frame: Frame, keys: readonly Key[], notes: string[]): Frame {
  for (const column of new Set(keys.flatMap(({ columns }) => columns))) {
    const { kind, untyped } = column.typed();
    if (untyped.length > 0)
      notes.push(`${untyped.length} cells of ${JSON.stringify(column.name)} hold no ${kind} and come last.`);
  }
  return pickRows(frame, ordered(frame, keys).rows);
}

/** Equal rows share a place, and the next place is left out: 1, 2, 2, 4. */
function rank(frame: Frame, step: Step): Frame {
  const keys = keysOf(frame, step, 'rank');
  const { rows, compare } = ordered(frame, keys);
  const places: Value[] = rowsOf(frame).map(() => EMPTY);
  let place = 0;
  for (const [at, row] of rows.entries()) {
    const before = rows[at - 1];
    if (before === undefined || compare(before, row) !== 0) place = at + 1;
    const hasValue = keys.every((key) => key.at(row, rows).kind !== 'empty');
    if (hasValue) places[row] = numberValue(place);
  }
  return withColumn(frame, columnOfValues('rank', places));
}

/** Of each row to the one above it, in the order of `by`, or as the rows are. */
function difference(frame: Frame, step: Step): Frame {
  const { formula, name, isNamed } = parseFormula(
    needed(step.formula, 'difference', 'formula', 'Sales as change'),
    frame,
  );
  const { at } = compileFormula(formula, frame);
  const inOrder =
    step.by === undefined || step.by.trim() === ''
      ? frame
      : pickRows(frame, ordered(frame, keysOf(frame, { do: 'order', by: step.by }, 'difference')).rows);
  const { at: atOrdered } = inOrder === frame ? { at } : compileFormula(formula, inOrder);
  const rows = rowsOf(inOrder);
  const values = rows.map((row) => atOrdered(row, rows));
  const minus = FUNCTIONS['-']?.of;
  const steps = values.map((value, row): Value => {
    const before = values[row - 1];
    return before === undefined || minus === undefined ? EMPTY : minus(value, before);
  });
  return withColumn(inOrder, columnOfValues(isNamed ? name : `difference of ${name}`, steps));
}

/** The last of `by` becomes columns, the others stay rows. */
function pivot(frame: Frame, { by, formula }: Step): Frame {
  const keys = keysIn(by, frame);
  const across = keys.at(-1);
  if (keys.length < 2 || across === undefined)
    throw new MeshError(
      'tool',
      'step pivot needs `by` with two columns or more, the last of which becomes columns: City, Year',
    );
  const down = keys.slice(0, -1);
  const value = parseFormula(needed(formula, 'pivot', 'formula', 'sum(Sales)'), frame);
  const { at, hasAggregate } = compileFormula(value.formula, frame);
  if (!hasAggregate) throw new MeshError('tool', `step pivot needs an aggregate: sum(${value.name})`);
  const all = rowsOf(frame);
  const titles = new Map<string, { title: string; value: Value }>();
  for (const row of all) {
    const title = across.at(row, all);
    if (!titles.has(keyOf(title)))
      titles.set(keyOf(title), { title: valueText(title) || '(empty)', value: title });
  }
  if (titles.size > MAX_PIVOT_COLUMNS)
    throw new MeshError(
      'tool',
      `${JSON.stringify(across.name)} has ${titles.size} values: a pivot has at most ${MAX_PIVOT_COLUMNS} columns`,
    );
  const sorted = [...titles].sort(([, a], [, b]) => compareValues(a.value, b.value, false));
  const groups = groupsOf(frame, down);
  const names = uniqueNames([...down.map(({ name }) => name), ...sorted.map(([, { title }]) => title)]);
  return {
    columns: [
      ...down.map((key, i) =>
        columnOfValues(
          names[i] ?? '',
          groups.map((rows) => key.at(rows[0] ?? -1, rows)),
        ),
      ),
      ...sorted.map(([key], i) =>
        columnOfValues(
          names[down.length + i] ?? '',
          groups.map((rows) => {
            const own = rows.filter((row) => keyOf(across.at(row, all)) === key);
            return own.length === 0 ? EMPTY : at(own[0] ?? -1, own);
          }),
        ),
      ),
    ],
    size: groups.length,
    labels: undefined,
  };
}
