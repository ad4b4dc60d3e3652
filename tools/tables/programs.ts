import type { Anchor } from './anchors.ts';
import type { Column, ColumnType, Table } from './table.ts';

/** Rows that a program selects, and the operations that selected them. */
interface RowSet {
  readonly rows: readonly number[];
  readonly shape: string;
  readonly operations: readonly string[];
  readonly anchors: readonly Anchor[];
  readonly roles: readonly Role[];
}

/** A column's role in a program. */
export interface Role {
  readonly use: 'project' | 'order' | 'aggregate' | 'frequent' | 'same' | 'difference';
  readonly column: number;
}

/** A typed program with its result. */
export interface Program extends Omit<RowSet, 'rows'> {
  /** The answer, each value once. */
  readonly answer: readonly string[];
  readonly type: ColumnType;
}

const MAX_PROGRAMS = 8000;
const MAX_SETS = 500;
const MAX_SINGLE = 14;
/** Maximum items of an answer; people do not ask for longer lists. */
const MAX_LIST = 30;

/** Lists the programs of a bounded grammar that the anchors of a question allow. */
export function listPrograms(table: Table, anchors: readonly Anchor[]): Program[] {
  const programs: Program[] = [];
  const add: Add = (from, operation, roles, answer, type) => {
    if (programs.length >= MAX_PROGRAMS || answer.length === 0) return;
    programs.push({
      shape: `${operation}(${from.shape})`,
      operations: [...from.operations, operation],
      anchors: from.anchors,
      roles: [...from.roles, ...roles],
      answer,
      type,
    });
  };
  const bases = listBaseSets(table, anchors);
  const chosen = bases.flatMap((set) => chooseRows(set, table));
  const near = bases.flatMap((set) => listNeighbours(set, table));
  for (const set of [...bases, ...chosen, ...near]) {
    if (set.shape === 'all') continue;
    if (programs.length >= MAX_PROGRAMS) break;
    for (const column of table.columns) projectColumn(set, column, add);
  }
  for (const set of bases) {
    if (programs.length >= MAX_PROGRAMS) break;
    add(set, 'count', [], [String(set.rows.length)], 'number');
    for (const column of table.columns) aggregate(set, column, add);
  }
  for (const set of near) add(set, 'count', [], [String(set.rows.length)], 'number');
  for (const [a, b] of listPairs(bases.filter(({ anchors: own }) => own.length === 1).slice(0, MAX_SINGLE))) {
    if (a.anchors[0]?.start === b.anchors[0]?.start) continue;
    const both: RowSet = {
      rows: [],
      shape: `${a.shape},${b.shape}`,
      operations: [...a.operations, ...b.operations],
      anchors: [...a.anchors, ...b.anchors],
      roles: [...a.roles, ...b.roles],
    };
    const fewer = Math.abs(a.rows.length - b.rows.length);
    add(both, 'difference of counts', [], [String(fewer)], 'number');
    for (const column of table.columns) {
      const [x, y] = [a, b].map(({ rows: [row = -1] }) => {
        const isNumber = column.isSortable && column.type !== 'date';
        return isNumber ? column.keys[row] : undefined;
      });
      const [p, q] = [a, b].map(({ rows: [row = -1] }) => column.cells[row]?.date?.year);
      const roles: Role[] = [{ use: 'difference', column: column.index }];
      if (x !== undefined && y !== undefined)
        add(both, 'difference', roles, [formatNumber(Math.abs(x - y))], 'number');
      else if (p !== undefined && q !== undefined)
        add(both, 'difference', roles, [String(Math.abs(p - q))], 'number');
    }
  }
  return programs;
}

type Add = (
  from: RowSet,
  operation: string,
  roles: readonly Role[],
  answer: readonly string[],
  type: ColumnType,
) => void;

/** Lists all rows, the rows of each anchor, and those of two anchors together or of either. */
function listBaseSets({ size }: Table, anchors: readonly Anchor[]): RowSet[] {
  const all: RowSet = {
    rows: Array.from({ length: size }, (_, row) => row),
    shape: 'all',
    operations: [],
    anchors: [],
    roles: [],
  };
  const single = anchors.map(
    (anchor): RowSet => ({
      ...all,
      rows: anchor.rows,
      shape: anchor.kind,
      operations: [anchor.kind],
      anchors: [anchor],
    }),
  );
  const sets = [all, ...single];
  for (const [a, b] of listPairs(single.slice(0, MAX_SINGLE * 2))) {
    const [x, y] = [a.anchors[0], b.anchors[0]];
    if (x === undefined || y === undefined || sets.length > MAX_SETS / 2) continue;
    const isApart = x.end <= y.start || y.end <= x.start;
    if (!isApart) continue;
    const joined = { anchors: [x, y], roles: [] };
    const both = a.rows.filter((row) => lookUpRows(b).has(row));
    const isNarrower = both.length > 0 && both.length < Math.min(a.rows.length, b.rows.length);
    if (isNarrower) sets.push({ ...joined, rows: both, shape: 'and', operations: ['and', x.kind, y.kind] });
    if (x.column === y.column && isWords(x) && isWords(y)) {
      const either = [...new Set([...a.rows, ...b.rows])].sort((p, q) => p - q);
      if (either.length > Math.max(a.rows.length, b.rows.length))
        sets.push({ ...joined, rows: either, shape: 'or', operations: ['or'] });
    }
  }
  return sets;
}

/** The rows of each set for lookups, computed once. */
const lookups = new WeakMap<RowSet, Set<number>>();
function lookUpRows(set: RowSet): Set<number> {
  const known = lookups.get(set) ?? new Set(set.rows);
  lookups.set(set, known);
  return known;
}

const isWords = ({ kind }: Anchor) => kind === 'is' || kind === 'has' || kind === '=';

/** Derives a set from another one by an operation. */
function deriveSet(
  set: RowSet,
  operation: string,
  rows: readonly number[],
  roles: readonly Role[] = [],
): RowSet {
  return {
    ...set,
    rows,
    shape: `${operation}(${set.shape})`,
    operations: [...set.operations, operation],
    roles: [...set.roles, ...roles],
  };
}

/** Lists single rows of a set, and the rows that share its extreme. */
function chooseRows(set: RowSet, { columns }: Table): RowSet[] {
  if (set.rows.length < 2) return [];
  const sets = [deriveSet(set, 'first', set.rows.slice(0, 1)), deriveSet(set, 'last', set.rows.slice(-1))];
  for (const { index, keys, isSortable } of columns) {
    if (!isSortable) continue;
    const known = set.rows.filter((row) => keys[row] !== undefined);
    if (known.length < 2) continue;
    const values = known.map((row) => keys[row] ?? 0);
    const [most, least] = [Math.max(...values), Math.min(...values)];
    if (most === least) continue;
    const roles: Role[] = [{ use: 'order', column: index }];
    for (const [operation, extreme] of [
      ['most', most],
      ['least', least],
    ] as const) {
      const rows = known.filter((row) => keys[row] === extreme);
      sets.push(deriveSet(set, operation, rows, roles));
    }
  }
  return sets;
}

/** Lists the rows above and below, and those that share a value with a row. */
function listNeighbours(set: RowSet, { columns, size }: Table): RowSet[] {
  const [first] = set.rows;
  const last = set.rows.at(-1);
  if (first === undefined || last === undefined || set.shape === 'all' || set.rows.length > 5) return [];
  const sets: RowSet[] = [];
  if (first > 0) sets.push(deriveSet(set, 'before', [first - 1]));
  if (last + 1 < size) sets.push(deriveSet(set, 'after', [last + 1]));
  if (set.rows.length > 1) return sets;
  const from = Array.from({ length: size }, (_, row) => row).filter((row) => row !== first);
  for (const { index, cells, keys, isSortable } of columns) {
    const value = cells[first]?.norm ?? '';
    const same = value === '' ? [] : from.filter((row) => cells[row]?.norm === value);
    if (same.length > 0 && same.length < from.length)
      sets.push(deriveSet(set, 'same', same, [{ use: 'same', column: index }]));
    const key = keys[first];
    if (!isSortable || key === undefined) continue;
    const above = from.filter((row) => (keys[row] ?? -Infinity) > key);
    const below = from.filter((row) => (keys[row] ?? Infinity) < key);
    if (above.length > 0) sets.push(deriveSet(set, 'more than', above, [{ use: 'order', column: index }]));
    if (below.length > 0) sets.push(deriveSet(set, 'less than', below, [{ use: 'order', column: index }]));
  }
  return sets;
}

/** Adds the values of a column in the rows: as texts, as numbers where a cell says more, as years of dates. */
function projectColumn(set: RowSet, { index, cells, type }: Column, add: Add): void {
  const own = set.rows.flatMap((row) => cells[row] ?? []).filter(({ text }) => text.trim() !== '');
  const roles: Role[] = [{ use: 'project', column: index }];
  const texts = [...new Set(own.map(({ text }) => text))];
  if (texts.length === 0 || texts.length > MAX_LIST) return;
  add(set, 'project', roles, texts, type);
  const numbers = own.flatMap(({ number }) => (number === undefined ? [] : [formatNumber(number)]));
  if (own.some(({ isNumber }) => !isNumber) && numbers.length === own.length && type !== 'date')
    add(set, 'number', roles, [...new Set(numbers)], 'number');
  const years = own.flatMap(({ date }) => (date?.year === undefined ? [] : [String(date.year)]));
  if (type === 'date' && own.some(({ isNumber }) => !isNumber) && years.length === own.length)
    add(set, 'year', roles, [...new Set(years)], 'number');
}

function aggregate(set: RowSet, { index, cells, keys, type, isSortable }: Column, add: Add): void {
  if (set.rows.length < 2) return;
  const norms = set.rows.map((row) => cells[row]?.norm ?? '').filter((norm) => norm !== '');
  const distinct = new Set(norms);
  if (distinct.size < norms.length) {
    add(set, 'count distinct', [{ use: 'frequent', column: index }], [String(distinct.size)], 'number');
    const times = new Map<string, number>();
    for (const norm of norms) times.set(norm, (times.get(norm) ?? 0) + 1);
    for (const [operation, most] of [
      ['most frequent', Math.max(...times.values())],
      ['least frequent', Math.min(...times.values())],
    ] as const) {
      const found = [...times].filter(([, count]) => count === most).map(([norm]) => norm);
      if (found.length > 2) continue;
      const texts = found.map(
        (norm) => cells[set.rows.find((row) => cells[row]?.norm === norm) ?? -1]?.text ?? '',
      );
      add(set, operation, [{ use: 'frequent', column: index }], texts, type);
    }
  }
  const numbers = set.rows.flatMap((row) => keys[row] ?? []);
  if (!isSortable || numbers.length < 2) return;
  const roles: Role[] = [{ use: 'aggregate', column: index }];
  if (type === 'date') {
    const years = set.rows.flatMap((row) => cells[row]?.date?.year ?? []);
    if (years.length > 1)
      add(set, 'range', roles, [String(Math.max(...years) - Math.min(...years))], 'number');
    return;
  }
  const sum = numbers.reduce((total, value) => total + value, 0);
  for (const [operation, value] of [
    ['sum', sum],
    ['mean', sum / numbers.length],
    ['maximum', Math.max(...numbers)],
    ['minimum', Math.min(...numbers)],
    ['range', Math.max(...numbers) - Math.min(...numbers)],
  ] as const)
    add(set, operation, roles, [formatNumber(value)], 'number');
}

function* listPairs<Item>(items: readonly Item[]): Generator<[Item, Item]> {
  for (const [at, a] of items.entries()) for (const b of items.slice(at + 1)) yield [a, b];
}

/** Writes a number without the noise of binary fractions. */
function formatNumber(value: number): string {
  return String(Number.isSafeInteger(value) ? value : Number(value.toPrecision(12)));
}
