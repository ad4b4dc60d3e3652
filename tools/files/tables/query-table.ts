import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { JOB_LIMITS, type JobBounds, SQL_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { defineJob, runJob } from '@gaia-mesh/core/system/process/jobs.ts';
import * as z from 'zod';
import type { DataTool, DataToolReply } from '../../data-tool.ts';
import { loadTaskFile } from '../find-file.ts';
import { type LoadedFile, quoteFileName } from '../loaded-file.ts';

const input = z.strictObject({
  file: z.string().min(1),
  sql: z
    .string()
    .min(1)
    .max(SQL_LIMITS.characters)
    .describe(
      "e.g. SELECT City, sum(Sales) AS total FROM t1 WHERE Date >= '2024-01-01' GROUP BY City ORDER BY total DESC",
    ),
});

export const queryTable: DataTool<z.infer<typeof input>> = {
  name: 'query_table',
  description:
    'Runs one SELECT (SQLite) over a spreadsheet or CSV: sheets are tables t1, t2, … with a column row, dates are ISO texts, 7/2 is 3.',
  input,
  async run({ file, sql }, context) {
    return querySheets(await loadTaskFile(context, file), sql, context.signal);
  },
};

const answerQuery = defineJob(
  new URL('./query-table.ts', import.meta.url),
  'query-table',
  async () => {
    const { answerSql } = await import('./answer-sql.ts');
    return ({ file, sql }: { file: LoadedFile; sql: string }) => answerSql(file, sql);
  },
  { sqlite: true },
);

/**
 * Runs SQL over the sheets of a file in a process of its own, since only ending its process stops SQLite.
 *
 * @throws MeshError `tool` for a file that is not a spreadsheet, and for SQL that cannot be run, not in time or not
 * within the memory
 */
export async function querySheets(
  file: LoadedFile,
  sql: string,
  signal: AbortSignal,
  bounds: JobBounds = JOB_LIMITS.sql,
): Promise<DataToolReply> {
  const outcome = await runJob(answerQuery, { file, sql }, bounds, { signal });
  if ('answer' in outcome) return outcome.answer;
  throw new MeshError('tool', `${quoteFileName(file.name)} was not queried: ${outcome.stopped}`);
}
