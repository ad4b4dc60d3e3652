import { formatColumnsCsv, formatCsvCell } from '../terminal/columns.ts';
import type { ComparisonFile, MatrixCell } from './comparison-file.ts';
import { listAdapterColumns } from './comparison-table.ts';

type Value = string | number | boolean | null | undefined;

/** Formats one line for each adapter, with all numbers in full precision. */
export function formatAdaptersCsv(file: ComparisonFile): string {
  return formatColumnsCsv(listAdapterColumns(file), file.adapters);
}

/** Formats one line for each adapter and run. */
export function formatMatrixCsv({ matrix }: ComparisonFile): string {
  return formatCsv(matrix, (cell: MatrixCell) => cell);
}

/** Formats a header line with the names of the values, and one line for each row. */
export function formatCsv<T>(
  rows: readonly T[],
  valuesOf: (row: T) => Readonly<Record<string, Value>>,
): string {
  const records = rows.map(valuesOf);
  const lines = records.map((record) => Object.values(record).map(formatCsvCell));
  return `${[Object.keys(records[0] ?? {}).map(formatCsvCell), ...lines].map((line) => line.join(',')).join('\n')}\n`;
}
