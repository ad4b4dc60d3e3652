import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { SQL_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import type PQueue from 'p-queue';
import * as z from 'zod';
import type { DataTool, DataToolReply } from '../../data-tool.ts';
import { answerConfined, isConfined, packTask, runConfined, unpackTask } from '../../web/confined.ts';
import { quoteFileName } from '../find-file.ts';
import { loadTaskFile } from '../load-file.ts';
import type { LoadedFile } from '../loaded-file.ts';

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

interface QueryBounds {
  readonly timeoutMs: number;
  readonly heapMb: number;
  readonly rssMb: number;
}

const BOUNDS: QueryBounds = {
  timeoutMs: SQL_LIMITS.timeoutMs,
  heapMb: SQL_LIMITS.heapMb,
  rssMb: SQL_LIMITS.memoryMb,
};
/** Maximum processes at a time; others wait. Each may take the memory above, and two keep two cores busy. */
const MAX_PROCESSES = 2;
const JOB = 'query-table';

/** The result of a query. A fault is the statement's or the file's. */
type Outcome = { readonly reply: DataToolReply } | { readonly fault: string };

let queue: Promise<PQueue> | undefined;

/**
 * Runs SQL over the sheets of a file in a process of its own, since only ending its process stops SQLite.
 *
 * @throws MeshError `tool` for a file that is not a spreadsheet, and for SQL that cannot be run, not in time or not
 * within the memory
 */
export async function querySheets(
  { name, bytes }: LoadedFile,
  sql: string,
  signal: AbortSignal,
  bounds: QueryBounds = BOUNDS,
): Promise<DataToolReply> {
  const packed = packTask({ name, sql }, bytes);
  queue ??= import('p-queue').then(({ default: Queue }) => new Queue({ concurrency: MAX_PROCESSES }));
  const outcome = await (await queue).add(() =>
    runConfined(new URL('./query-table.ts', import.meta.url), JOB, packed, {
      ...bounds,
      sqlite: true,
      signal,
    }),
  );
  if ('stopped' in outcome)
    throw new MeshError('tool', `${quoteFileName(name)} was not queried: ${outcome.stopped}`);
  const answer: Outcome = JSON.parse(outcome.output);
  if ('fault' in answer) throw new MeshError('tool', answer.fault);
  return answer.reply;
}

async function queryHere(packed: Uint8Array): Promise<string> {
  const { task, bytes } = unpackTask<{ name: string; sql: string }>(packed);
  const { answerSql } = await import('./answer-sql.ts');
  const outcome = await answerSql({ name: task.name, bytes }, task.sql).then(
    (reply): Outcome => ({ reply }),
    (error: unknown): Outcome => {
      if (error instanceof MeshError) return { fault: error.message };
      throw error;
    },
  );
  return JSON.stringify(outcome);
}

if (isConfined(JOB)) void answerConfined(queryHere);
