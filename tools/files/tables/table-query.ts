import { MeshError } from '../../../core/contracts/errors.ts';
import type { JsonObject, JsonValue } from '../../../core/contracts/packet.ts';
import type { DataToolReply } from '../../data-tool.ts';
import { filterRows, testsOf } from '../../tables/plan/filter-rows.ts';
import { type Frame, rowsOf } from '../../tables/plan/frame.ts';
import type { Step } from '../../tables/plan/plan.ts';
import { performStep } from '../../tables/plan/steps.ts';
import type { DateOrder } from '../../tables/values/date.ts';
import { valueJson, valueText } from '../../tables/values/value.ts';
import { shown } from '../find-file.ts';
import type { LoadedFile } from '../load-file.ts';
import { type AGGREGATES, aggregateResult, type QueryResult, textOf } from './aggregate-rows.ts';
import { markdownTable } from './markdown-table.ts';
import { MAX_CELL_CHARACTERS, shortCell, type Table } from './sheet.ts';
import { type FrameReading, frameOf, type SheetTable, sheetTable, totalsAmong } from './sheet-frame.ts';

/** Conditions, then steps, then an aggregate; without the last, the rows that are left are the answer. */
export interface TableQuery {
  /** A formula that holds for the rows. */
  readonly where?: string;
  readonly steps?: readonly Step[];
  readonly aggregate?: (typeof AGGREGATES)[number] | undefined;
  readonly column?: string;
  readonly resultColumn?: string;
  readonly dateOrder?: DateOrder;
}

/** Rows of a result; a reader who wants more asks for a part. */
const MAX_ROWS_SHOWN = 200;
const MAX_NOTES = 40;

export interface QueryAsked {
  readonly sheet?: string;
  readonly query: TableQuery;
  /** Files that steps name, by the name as it is there. */
  readonly others?: Readonly<Record<string, LoadedFile>>;
}

/**
 * A calculation over the rows of a sheet, the same whenever it is asked. Where dates may be read day first or month first and the
 * result is not the same, both are given and none is called the value.
 *
 * @throws MeshError `tool` for a sheet or column that is not there, naming those that are, and where there is nothing to calculate with
 */
export async function answerQuery(
  file: LoadedFile,
  { sheet, query, others = {} }: QueryAsked,
): Promise<DataToolReply> {
  const main = await sheetTable(file, sheet);
  const further = new Map<string, SheetTable>();
  for (const step of query.steps ?? []) {
    if (step.do !== 'join' && step.do !== 'left_join' && step.do !== 'append') continue;
    const other = step.file === undefined ? file : others[step.file];
    if (other === undefined) throw new MeshError('tool', `${step.file} was not loaded`);
    further.set(keyOfTable(step.file, step.sheet), await sheetTable(other, step.sheet));
  }
  const where = `${shown(file.name)}, sheet ${JSON.stringify(main.name)}`;
  const either = new Set<string>();
  const run = (otherwise: DateOrder | undefined): QueryResult => {
    const reading: FrameReading = {
      order: query.dateOrder,
      otherwise,
      onEither: ({ name }) => either.add(name),
    };
    const tableOf = (name: string | undefined, own: string | undefined) => {
      const table = further.get(keyOfTable(name, own));
      if (table === undefined) throw new MeshError('tool', `there is no table ${name ?? ''} ${own ?? ''}`);
      return table.frame(reading);
    };
    return told(where, () => resultOf(main.frame(reading), query, tableOf));
  };
  const dayFirst = run(undefined);
  if (either.size === 0 || query.dateOrder !== undefined) return replyOf(where, query, dayFirst);
  const columns = [...either].map((name) => JSON.stringify(name)).join(', ');
  const monthFirst = run('mdy');
  if (monthFirst.text === dayFirst.text) return replyOf(where, query, dayFirst);
  const [one, other] = [replyOf(where, query, dayFirst), replyOf(where, query, monthFirst)];
  return {
    text: [
      `Nothing tells whether dates of ${columns} such as 03/04/2024 have the day or the month first, and it matters. Say it in \`date_order\`, or find it out.`,
      `Day first: ${one.text}`,
      `Month first: ${other.text}`,
    ].join('\n'),
    data: { day_first: one.data ?? null, month_first: other.data ?? null },
  };
}

const keyOfTable = (file: string | undefined, sheet: string | undefined) => JSON.stringify([file, sheet]);

function replyOf(
  where: string,
  { aggregate, column }: TableQuery,
  { text, data, notes }: QueryResult,
): DataToolReply {
  const asked =
    aggregate === undefined
      ? ''
      : `, ${aggregate}${column === undefined ? '' : ` of ${JSON.stringify(column)}`}`;
  const more = notes.length > MAX_NOTES ? [`[and ${notes.length - MAX_NOTES} more notes]`] : [];
  return { text: [`${where}${asked}: ${text}`, ...notes.slice(0, MAX_NOTES), ...more].join('\n'), data };
}

function told<Result>(where: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof MeshError)) throw cause;
    throw new MeshError(cause.code, `${where}: ${cause.message}`, { cause });
  }
}

/** The value of a query, and what a reader should know about it. */
export function evaluate(table: Table, query: TableQuery): { value: JsonValue; notes: readonly string[] } {
  const noOther = () => {
    throw new MeshError('tool', 'there is one table');
  };
  return resultOf(frameOf(table, { order: query.dateOrder, onEither: () => undefined }), query, noOther);
}

function resultOf(
  whole: Frame,
  query: TableQuery,
  tableOf: (file: string | undefined, sheet: string | undefined) => Frame,
): QueryResult {
  const { where, steps = [] } = query;
  const notes: string[] = [];
  const hints: string[] = [];
  let frame = whole;
  if (where !== undefined) frame = filterRows(whole, testsOf(where, whole), hints);
  if (where !== undefined || steps.length === 0) notes.push(`${frame.size} of ${whole.size} rows matched.`);
  notes.push(...hints);
  // Groups have no rows of the file: those they were made of had.
  let labelled = frame;
  for (const [at, step] of steps.entries()) {
    const before = frame;
    if (before.labels !== undefined) labelled = before;
    frame = told(`step ${at + 1} (${step.do})`, () => performStep(before, step, { tableOf, notes }));
  }
  notes.push(...totalsAmong(frame.labels === undefined ? labelled : frame));
  if (query.aggregate === undefined) return rowsResult(frame, notes);
  return aggregateResult(frame, query, query.aggregate, notes);
}

function rowsResult(frame: Frame, notes: readonly string[]): QueryResult {
  const rows = rowsOf(frame).slice(0, MAX_ROWS_SHOWN);
  const columns = frame.columns.map(({ name, typed }) => ({ name, values: typed().values }));
  const [first] = columns;
  const only = frame.size === 1 && columns.length === 1 ? first?.values[0] : undefined;
  const cells = rows.map((row) => columns.map(({ values }) => values[row] ?? { kind: 'empty' as const }));
  const left = frame.size - rows.length;
  const data: JsonObject = {
    columns: columns.map(({ name }) => name),
    rows: cells.map((line) => line.map((value) => shortCell(valueJson(value)))),
    row_count: frame.size,
    ...(only === undefined ? {} : { value: valueJson(only) }),
  };
  if (only !== undefined) return { value: valueJson(only), notes, text: textOf(only), data };
  const table = markdownTable(
    [columns.map(({ name }) => name), ...cells.map((line) => line.map(valueText))],
    MAX_CELL_CHARACTERS,
  );
  const lines = [
    `${frame.size} rows`,
    '',
    ...table,
    ...(left > 0 ? [`[cut: ${left} more rows; count, group or pick some]`] : []),
    '',
  ];
  return {
    value: data.rows ?? null,
    notes,
    text: frame.columns.length === 0 ? 'nothing' : lines.join('\n'),
    data,
  };
}
