import * as z from 'zod';
import { MeshError } from '../../../core/contracts/errors.ts';
import { OPERATORS, STEP_NAMES } from '../../tables/plan/plan.ts';
import type { DataTool } from '../../data-tool.ts';
import { type LoadedFile, loadTaskFile } from '../load-file.ts';
import { readInThread } from '../reading-thread.ts';
import { AGGREGATES } from './table-query.ts';

/** More files than a question comes with. */
const MAX_FILES = 8;
const name = z.string().min(1);

const input = z.strictObject({
  file: name,
  sheet: name.exactOptional().describe('* for all'),
  where: z
    .array(
      z.strictObject({
        column: name,
        op: z.enum(OPERATORS),
        value: z.union([z.string(), z.number(), z.boolean()]),
      }),
    )
    .max(20)
    .exactOptional(),
  steps: z
    .array(
      z.strictObject({
        do: z.enum(STEP_NAMES),
        by: z.array(z.string()).max(20).exactOptional(),
        formula: name.exactOptional(),
        rows: z.number().exactOptional(),
        file: name.exactOptional(),
        sheet: name.exactOptional(),
      }),
    )
    .max(20)
    .exactOptional()
    .describe(
      'e.g. {do:where,formula:"month(Date)=5 and City!=\'Oslo\'"} {do:group,by:[City],formula:"sum(Sales) as total"} ' +
        '{do:order,by:["total desc"]} {do:pick,rows:1}; join formula: "Code = Id"',
    ),
  aggregate: z.enum(AGGREGATES).exactOptional(),
  column: name.exactOptional(),
  result_column: name.exactOptional().describe('of row_of_max, row_of_min'),
  date_order: z.enum(['dmy', 'mdy', 'ymd']).exactOptional(),
});

export const queryTable: DataTool<z.infer<typeof input>> = {
  name: 'query_table',
  description: 'Calculates exactly over typed tables: conditions, then steps, then an aggregate or the rows.',
  input,
  async run({ file, sheet, result_column: resultColumn, date_order: dateOrder, ...asked }, place) {
    const loaded = await loadTaskFile(place, file);
    const others: Record<string, LoadedFile> = {};
    for (const { file: other } of asked.steps ?? []) {
      if (other === undefined || Object.hasOwn(others, other)) continue;
      if (Object.keys(others).length === MAX_FILES)
        throw new MeshError('tool', `steps name at most ${MAX_FILES} files`);
      others[other] = await loadTaskFile(place, other);
    }
    const query = {
      ...asked,
      ...(resultColumn === undefined ? {} : { resultColumn }),
      ...(dateOrder === undefined ? {} : { dateOrder }),
    };
    return readInThread(
      loaded,
      { kind: 'query', ...(sheet === undefined ? {} : { sheet }), query, others },
      place.signal,
    );
  },
};
