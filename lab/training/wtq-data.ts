import path from 'node:path';
import { parseTable, type Table } from '@gaia-mesh/tools/tables/table.ts';
import { z } from 'zod';
import { readLines } from './read-questions.ts';

const questionSchema = z.object({
  id: z.string(),
  question: z.string(),
  table: z.string(),
  answers: z.array(z.string()),
  dev_of_split: z.array(z.number()),
});
const tableSchema = z.object({ id: z.string(), rows: z.array(z.array(z.string())) });

export type WtqQuestion = z.infer<typeof questionSchema>;

/**
 * Loads WikiTableQuestions from `train.jsonl.gz` and `tables.jsonl.gz` of a folder; each table is parsed at its first
 * use.
 */
export function loadWtqData(folder: string) {
  const lines = <T>(name: string, schema: z.ZodType<T>) => readLines(path.join(folder, name), schema);
  const rows = new Map(lines('tables.jsonl.gz', tableSchema).map(({ id, rows: own }) => [id, own]));
  const tables = new Map<string, Table>();
  return {
    questions: lines('train.jsonl.gz', questionSchema),
    table: (id: string): Table => {
      const table = tables.get(id) ?? parseTable(rows.get(id) ?? []);
      tables.set(id, table);
      return table;
    },
  };
}
