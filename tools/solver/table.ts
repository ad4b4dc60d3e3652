import * as z from 'zod';
import type { JsonObject } from '../../core/packet.ts';
import type { CellValue, Table } from '../files/sheet.ts';
import { asksForList, fitFormat } from './fit-format.ts';
import { plainNumber } from './rounding.ts';
import type { Solution } from './solution.ts';
import { columnsOf } from './table/columns.ts';
import { planQuery } from './table/plan.ts';
import { alternatives, carryOut } from './table/rows.ts';
import type { TablePlan } from './table/table-plan.ts';
import type { Workings } from './workings.ts';

const cell = z.union([z.null(), z.boolean(), z.number(), z.string()]);

/** What `read_excel` tells programs, and `read_zip` of a spreadsheet in an archive. */
const spreadsheet = z.object({
  sheets: z
    .array(
      z.object({
        name: z.string(),
        columns: z.array(z.string()),
        rows: z.array(z.array(cell)),
        rows_left_out: z.exactOptional(z.number()),
      }),
    )
    .min(1),
});
type Sheet = z.infer<typeof spreadsheet>['sheets'][number];

/** As many rows as the reader gives. */
const ROWS = 5000;

/** Answers a question about the spreadsheet `file`. */
export async function solveTable(question: string, file: string, workings: Workings): Promise<Solution> {
  const reply = await workings.ask('read_excel', { file, max_rows: ROWS });
  if (reply === undefined) return workings.giveUp('table', `${file} is needed.`);
  return answerFromSheets(question, reply.data, workings, file);
}

/** @param file where `query_table` finds the sheets, for those of which only the first rows are in `data` */
export async function answerFromSheets(
  question: string,
  data: unknown,
  workings: Workings,
  file?: string,
): Promise<Solution> {
  const parsed = spreadsheet.safeParse(data);
  if (!parsed.success) return workings.giveUp('table', 'The reply about the spreadsheet has no rows in it.');
  const sheet = chooseSheet(question, parsed.data.sheets);
  workings.say(`The table is ${sheet.name}, with the columns ${sheet.columns.join(', ')}.`);
  if (sheet.rows_left_out !== undefined) return queryWhole(question, sheet, workings, file);
  return answerFromTable(question, tableFrom(sheet.columns, sheet.rows), workings);
}

/** A table whose rows are all at hand. */
export function answerFromTable(question: string, table: Table, workings: Workings): Solution {
  const plan = planQuery(question, columnsOf(table));
  if (typeof plan === 'string') return workings.giveUp('table', plan);
  workings.say(inWords(plan));
  const found = carryOut(table, plan);
  if ('missing' in found) return workings.giveUp('table', found.missing);
  return answerWith(question, plan, found.values, workings);
}

export function tableFrom(columns: readonly string[], rows: readonly (readonly CellValue[])[]): Table {
  return {
    columns,
    rows: rows.map((cells, index) => ({ number: index + 2, cells })),
    header: undefined,
    above: [],
  };
}

/** Larger tables are calculated where they are; what takes rows apart cannot be asked of them. */
async function queryWhole(
  question: string,
  sheet: Sheet,
  workings: Workings,
  file: string | undefined,
): Promise<Solution> {
  const plan = planQuery(question, columnsOf(tableFrom(sheet.columns, sheet.rows)));
  if (typeof plan === 'string') return workings.giveUp('table', plan);
  workings.say(inWords(plan));
  const query = queryFor(plan);
  if (query === undefined || file === undefined) {
    return workings.giveUp(
      'table',
      `The table is too large for that: ${sheet.rows_left_out} rows are not at hand.`,
    );
  }
  const reply = await workings.ask('query_table', { file, sheet: sheet.name, ...query });
  const values = z.object({ value: z.union([cell, z.array(cell)]) }).safeParse(reply?.data);
  if (!values.success) return workings.giveUp('table', 'Without the result of the query there is no answer.');
  return answerWith(question, plan, [values.data.value].flat(), workings);
}

function queryFor(plan: TablePlan): JsonObject | undefined {
  if (plan.where.some(({ op, values }) => op === 'in' && values.length > 1)) return undefined;
  const where = plan.where.flatMap(alternatives).map((condition) => ({ ...condition }));
  switch (plan.ask) {
    case 'count':
      return { where, aggregate: 'count' };
    case 'list':
    case 'lookup':
      return { where, aggregate: 'list', column: plan.column };
    case 'ranked':
      if (plan.rank !== 1 || plan.count !== 1) return undefined;
      return {
        where,
        aggregate: plan.end === 'max' ? 'row_of_max' : 'row_of_min',
        column: plan.by,
        result_column: plan.column,
      };
    case 'group':
    case 'difference':
    case 'range':
    case 'share':
      return undefined;
    default:
      return { where, aggregate: plan.ask, column: plan.column };
  }
}

function answerWith(
  question: string,
  plan: TablePlan,
  values: readonly CellValue[],
  workings: Workings,
): Solution {
  const texts = values
    .filter((value) => value !== null)
    .map((value) => (typeof value === 'number' ? plainNumber(value) : String(value).trim()));
  const [first] = texts;
  if (first === undefined) return workings.giveUp('table', 'The cell is empty.');
  const isList = plan.ask === 'list' || asksForList(question) || (plan.ask === 'ranked' && plan.count > 1);
  if (texts.length > 1 && !isList) {
    return workings.giveUp(
      'table',
      `The question wants one value, and ${texts.length} fit it: ${texts.slice(0, 5).join(', ')}.`,
    );
  }
  return workings.answer('table', fitFormat(question, texts.join(', ')));
}

/** The sheet that the question names, else the one whose columns it speaks of. */
function chooseSheet(question: string, sheets: readonly Sheet[]): Sheet {
  const filled = sheets.filter(({ rows }) => rows.length > 0);
  const [first = { name: '', columns: [], rows: [] }] = filled.length > 0 ? filled : sheets;
  if (filled.length < 2) return first;
  const asked = question.toLowerCase();
  const named = filled.filter(({ name }) =>
    new RegExp(`(?<![\\p{L}\\p{N}])${escaped(name.toLowerCase())}(?![\\p{L}\\p{N}])`, 'u').test(asked),
  );
  const [only, other] = named;
  if (only !== undefined && other === undefined) return only;
  const isAlike = filled.every(({ columns }) => columns.join('\n') === first.columns.join('\n'));
  if (isAlike) return together(named.length > 1 ? named : filled);
  const points = ({ columns }: Sheet) => columns.filter((name) => asked.includes(name.toLowerCase())).length;
  return filled.reduce((best, sheet) => (points(sheet) > points(best) ? sheet : best), first);
}

/** Sheets of the same columns are one table, with the sheet's name as a column more. */
function together(sheets: readonly Sheet[]): Sheet {
  const [first] = sheets;
  const left = sheets.reduce((sum, sheet) => sum + (sheet.rows_left_out ?? 0), 0);
  return {
    name: sheets.map(({ name }) => name).join(' + '),
    columns: [...(first?.columns ?? []), 'Sheet'],
    rows: sheets.flatMap(({ name, columns, rows }) =>
      rows.map((row) => [...columns.map((_, index) => row[index] ?? null), name]),
    ),
    ...(left > 0 ? { rows_left_out: left } : {}),
  };
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function inWords(plan: TablePlan): string {
  const where = plan.where
    .map(({ column, op, values }) => `${column} ${op} ${values.join(' or ')}`)
    .join(', ');
  const rows = where === '' ? 'Of all rows' : `Of the rows with ${where}`;
  switch (plan.ask) {
    case 'count':
      return `${rows}, the number is counted.`;
    case 'list':
    case 'lookup':
      return `${rows}, ${plan.column} is read.`;
    case 'ranked':
      return `${rows}, sorted by ${plan.by}, ${plan.column} is read at the ${plan.end === 'max' ? 'upper' : 'lower'} end, place ${plan.rank}.`;
    case 'group':
      return `${rows}, ${plan.by === undefined ? 'the number' : `the ${plan.fold} of ${plan.by}`} is taken for each ${plan.column}, and the ${plan.end === 'max' ? 'largest' : 'smallest'} chosen.`;
    case 'difference':
      return `${rows}, the ${plan.fold} of ${plan.column ?? 'rows'} is compared between ${plan.split.values.join(' and ')}.`;
    case 'range':
      return `${rows}, the smallest ${plan.column} is taken from the largest.`;
    case 'share':
      return `${rows}, the share is taken of those with ${plan.part.map(({ column, op, values }) => `${column} ${op} ${values.join(' or ')}`).join(', ')}.`;
    default:
      return `${rows}, the ${plan.ask} of ${plan.column} is taken.`;
  }
}
