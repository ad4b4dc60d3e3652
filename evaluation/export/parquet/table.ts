import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { ColumnSource } from 'hyparquet-writer';

/** Value of a cell; null for empty cells of any kind. */
type Cell = string | number | boolean | Date | JsonObject | null | undefined;
type Kind = 'text' | 'json' | 'integer' | 'number' | 'flag' | 'time';

/** A column: name, kind, and the function that reads its cell from a row. */
type Column<Row> = readonly [name: string, kind: Kind, cellOf: (row: Row) => Cell];

/** The columns of one file. */
export interface Table {
  readonly name: string;
  readonly rows: number;
  readonly columns: ColumnSource[];
}

const TYPES = {
  text: 'STRING',
  json: 'JSON',
  integer: 'INT64',
  number: 'DOUBLE',
  flag: 'BOOLEAN',
  time: 'TIMESTAMP',
} as const satisfies Record<Kind, string>;

export function createTable<Row>(name: string, rows: readonly Row[], columns: readonly Column<Row>[]): Table {
  return {
    name,
    rows: rows.length,
    columns: columns.map(([column, kind, cellOf]) => ({
      name: column,
      type: TYPES[kind],
      nullable: true,
      data: rows.map((row) => toParquetCell(kind, cellOf(row))),
    })),
  };
}

function toParquetCell(kind: Kind, value: Cell): Exclude<Cell, undefined> | bigint {
  if (value === undefined || value === null) return null;
  return kind === 'integer' ? BigInt(Math.round(Number(value))) : value;
}
