import * as z from 'zod';
import { MeshError } from '../../../core/contracts/errors.ts';
import type { DataTool } from '../../data-tool.ts';
import { formulaOf, OPERATORS, STEP_NAMES } from '../../tables/plan/plan.ts';
import { DATE_ORDERS } from '../../tables/values/date.ts';
import { type LoadedFile, loadTaskFile } from '../load-file.ts';
import { readInThread } from '../reading/reading-thread.ts';
import { AGGREGATES } from './aggregate-rows.ts';

/** More files than a question comes with. */
const MAX_FILES = 8;
const MAX_STEPS = 20;
const name = z.string().min(1);
/** Several columns; models write them as a list, too. */
const columns = z.preprocess((given) => (Array.isArray(given) ? given.join(', ') : given), name);

const input = z.strictObject({
  file: name,
  sheet: name.exactOptional().describe('* for all'),
  where: z
    .preprocess(formulaOfConditions, name)
    .exactOptional()
    .describe("e.g. year(Date)=2024 and City!='Oslo'"),
  steps: z
    .array(
      z.strictObject({
        do: z.enum(STEP_NAMES),
        by: columns.exactOptional(),
        formula: name.exactOptional(),
        rows: z.number().exactOptional(),
        file: name.exactOptional(),
        sheet: name.exactOptional(),
      }),
    )
    .max(MAX_STEPS)
    .exactOptional()
    .describe(
      'e.g. group, by City, formula "sum(Sales) as s"; order, by "s desc"; pick, rows 1; join, formula "Code=Id"',
    ),
  aggregate: z.enum(AGGREGATES).exactOptional(),
  column: name.exactOptional(),
  result_column: name.exactOptional(),
  date_order: z.enum(DATE_ORDERS).exactOptional(),
});

const conditions = z.array(
  z.strictObject({
    column: name,
    op: z.enum(OPERATORS),
    value: z.union([z.string(), z.number(), z.boolean()]),
  }),
);

/** A list of conditions says the same as a formula, and many models write one. What is none stays as it is, to be refused. */
function formulaOfConditions(given: unknown): unknown {
  const parsed = conditions.safeParse(given);
  if (!parsed.success) return given;
  return formulaOf(parsed.data);
}

export const queryTable: DataTool<z.infer<typeof input>> = {
  name: 'query_table',
  description: 'Calculates exactly over a table: where, then steps, then aggregate.',
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
