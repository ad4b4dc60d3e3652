import { numberIn } from '../../files/cell-number.ts';
import type { CellValue, SheetRow, Table } from '../../files/sheet.ts';
import { type Condition, evaluate } from '../../files/table-query.ts';
import type { AskedCondition } from './asked-condition.ts';
import type { TablePlan } from './table-plan.ts';

/** What a plan comes to: one value, or several. */
export type Found = { readonly values: readonly CellValue[] } | { readonly missing: string };

/** Carries out a plan over rows that are all at hand. */
export function carryOut(table: Table, plan: TablePlan): Found {
  const rows = rowsThat(table, plan.where);
  if (rows.length === 0 && plan.ask !== 'count' && plan.ask !== 'share' && plan.ask !== 'difference')
    return { missing: 'No row holds the conditions.' };
  const chosen = { ...table, rows };
  switch (plan.ask) {
    case 'count':
      return { values: [rows.length] };
    case 'count_distinct':
    case 'sum':
    case 'mean':
    case 'median':
    case 'min':
    case 'max':
      return one(evaluate(chosen, { where: [], aggregate: plan.ask, column: plan.column }).value);
    case 'list':
    case 'lookup':
      return { values: distinct(rows.map((row) => cellOf(table, row, plan.column))) };
    case 'ranked':
      return ranked(table, rows, plan);
    case 'group':
      return group(table, rows, plan);
    case 'difference':
      return difference(table, plan);
    case 'range': {
      const [most, least] = (['max', 'min'] as const).map((fold) => folded(table, rows, plan.column, fold));
      return most === undefined || least === undefined
        ? { missing: 'The column has no numbers.' }
        : { values: [most - least] };
    }
    case 'share': {
      const part = rowsThat(chosen, plan.part);
      const [of, whole] = [part, rows].map((some) => folded(table, some, plan.column, 'sum'));
      return of === undefined || whole === undefined || whole === 0
        ? { missing: 'There is nothing to take a share of.' }
        : { values: [(of / whole) * 100] };
    }
  }
}

function one(value: unknown): Found {
  return typeof value === 'number' || typeof value === 'string'
    ? { values: [value] }
    : { missing: 'The calculation has no result.' };
}

/** The rows that hold all conditions, compared as `query_table` compares. */
function rowsThat(table: Table, where: readonly AskedCondition[]): readonly SheetRow[] {
  return where.reduce<readonly SheetRow[]>((rows, condition) => {
    const ways = alternatives(condition);
    return rows.filter((row) => {
      const holds = (way: Condition) =>
        evaluate({ ...table, rows: [row] }, { where: [way], aggregate: 'count' }).value === 1;
      return condition.op === 'not in' ? ways.every(holds) : ways.some(holds);
    });
  }, table.rows);
}

/** A condition in the words of `query_table`: several, where one of several values will do, or none of them may be. */
export function alternatives({ column, op, values }: AskedCondition): Condition[] {
  const plain = op === 'in' ? '=' : op === 'not in' ? '!=' : op;
  return values.map((value) => ({ column, op: plain, value }));
}

function cellOf(table: Table, row: SheetRow, column: string): CellValue {
  return row.cells[table.columns.indexOf(column)] ?? null;
}

function distinct(cells: readonly CellValue[]): CellValue[] {
  const texts = new Map(
    cells
      .filter((cell) => cell !== null && cell !== '')
      .map((cell) => [String(cell).trim().toLowerCase(), cell]),
  );
  return [...texts.values()];
}

function ranked(table: Table, rows: readonly SheetRow[], plan: Extract<TablePlan, { ask: 'ranked' }>): Found {
  const scored = rows.flatMap((row) => {
    const cell = cellOf(table, row, plan.by);
    const key =
      numberIn(cell) ??
      (typeof cell === 'string' && /^\d{4}-\d{2}-\d{2}/.test(cell)
        ? Date.parse(`${cell.slice(0, 10)}T00:00:00Z`)
        : undefined);
    return key === undefined ? [] : [{ row, key }];
  });
  const sign = plan.end === 'max' ? -1 : 1;
  const sorted = scored.toSorted((a, b) => sign * (a.key - b.key));
  const from = plan.count > 1 ? 0 : plan.rank - 1;
  const values = sorted.slice(from, from + plan.count).map(({ row }) => cellOf(table, row, plan.column));
  return values.length === 0 ? { missing: 'There are not so many rows.' } : { values };
}

function group(table: Table, rows: readonly SheetRow[], plan: Extract<TablePlan, { ask: 'group' }>): Found {
  const groups = new Map<string, SheetRow[]>();
  for (const row of rows) {
    const name = String(cellOf(table, row, plan.column) ?? '').trim();
    if (name !== '') groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  let best: { name: string; value: number } | undefined;
  for (const [name, members] of groups) {
    const value = folded(table, members, plan.by, plan.fold);
    if (value === undefined) continue;
    if (best === undefined || (plan.end === 'max' ? value > best.value : value < best.value))
      best = { name, value };
  }
  return best === undefined ? { missing: 'No group has a number.' } : { values: [best.name] };
}

function difference(table: Table, plan: Extract<TablePlan, { ask: 'difference' }>): Found {
  const rows = rowsThat(table, plan.where);
  const sides = plan.split.values.map((value) => {
    const side = rowsThat({ ...table, rows }, [{ ...plan.split, values: [value] }]);
    return side.length === 0 ? undefined : folded(table, side, plan.column, plan.fold);
  });
  const [left, right] = sides;
  if (left === undefined || right === undefined) return { missing: 'One of the two has no rows.' };
  return { values: [Math.abs(left - right)] };
}

/** Without a column, rows are counted. */
function folded(
  table: Table,
  rows: readonly SheetRow[],
  column: string | undefined,
  fold: 'sum' | 'mean' | 'median' | 'min' | 'max',
): number | undefined {
  if (column === undefined) return rows.length;
  if (!rows.some((row) => numberIn(cellOf(table, row, column)) !== undefined))
    return rows.length === 0 ? 0 : undefined;
  const { value } = evaluate({ ...table, rows }, { where: [], aggregate: fold, column });
  return typeof value === 'number' ? value : undefined;
}
