import * as z from 'zod';
import type { DataTool } from '../../data-tool.ts';
import { loadTaskFile } from '../load-file.ts';
import { readInThread } from '../reading-thread.ts';
import { AGGREGATES, OPERATORS } from './table-query.ts';

const input = z.strictObject({
  file: z.string().min(1),
  sheet: z.string().min(1).exactOptional().describe('if several'),
  where: z
    .array(
      z.strictObject({
        column: z.string().min(1).describe('name or letter'),
        op: z.enum(OPERATORS),
        value: z.union([z.string(), z.number(), z.boolean()]).describe('dates as 2024-03-01'),
      }),
    )
    .max(20)
    .exactOptional()
    .describe('all must hold'),
  aggregate: z.enum(AGGREGATES),
  column: z.string().min(1).exactOptional(),
  result_column: z.string().min(1).exactOptional().describe('of row_of_max, row_of_min'),
});

export const queryTable: DataTool<z.infer<typeof input>> = {
  name: 'query_table',
  description: 'Calculates exactly over rows of a spreadsheet, under conditions.',
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
