import * as z from 'zod';
import type { DataTool } from '../../data-tool.ts';
import { loadTaskFile } from '../load-file.ts';
import { readInThread } from '../reading-thread.ts';
import { AGGREGATES, OPERATORS } from './table-query.ts';

const input = z.strictObject({
  file: z.string().min(1).describe('Name of the spreadsheet, as list_files writes it'),
  sheet: z.string().min(1).exactOptional().describe('Name of the sheet; needed where there are several'),
  where: z
    .array(
      z.strictObject({
        column: z.string().min(1).describe('Name of the column in the header, or its letter'),
        op: z.enum(OPERATORS).describe('How the cell is compared with the value, without case'),
        value: z
          .union([z.string(), z.number(), z.boolean()])
          .describe('What it is compared with; dates as 2024-03-01'),
      }),
    )
    .max(20)
    .exactOptional()
    .describe('Conditions that all must hold; without them, every row counts'),
  aggregate: z
    .enum(AGGREGATES)
    .describe('What to calculate from the column; count without a column counts rows'),
  column: z.string().min(1).exactOptional().describe('Name of the column to calculate with, or its letter'),
  result_column: z
    .string()
    .min(1)
    .exactOptional()
    .describe('With row_of_max and row_of_min: the column whose value is wanted, instead of the whole row'),
});

export const queryTable: DataTool<z.infer<typeof input>> = {
  name: 'query_table',
  description:
    'Calculates exactly over the rows of a spreadsheet (xlsx, xls, ods, csv, tsv): sum, mean, median, minimum, maximum, counts, lists, ' +
    'the row with the largest or smallest value, under conditions. Numbers such as "1,234", "$5" or "12%" (0.12) are understood.',
  input,
  async run({ file, sheet, where = [], aggregate, column, result_column: resultColumn }, place) {
    const loaded = await loadTaskFile(place, file);
    const query = {
      where,
      aggregate,
      ...(column === undefined ? {} : { column }),
      ...(resultColumn === undefined ? {} : { resultColumn }),
    };
    return readInThread(
      loaded,
      { kind: 'query', ...(sheet === undefined ? {} : { sheet }), query },
      place.signal,
    );
  },
};
