import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { type Table, tableOf } from '../../tools/tables/table.ts';

const questionSchema = z.object({
  id: z.string(),
  question: z.string(),
  table: z.string(),
  answers: z.array(z.string()),
  dev_of_split: z.array(z.number()),
});
const tableSchema = z.object({ id: z.string(), rows: z.array(z.array(z.string())) });

export type WtqQuestion = z.infer<typeof questionSchema>;

/** WikiTableQuestions as `train.jsonl.gz` and `tables.jsonl.gz` of a folder; a table is read when it is first asked for. */
export function wtqData(folder: string) {
  const rows = new Map(linesOf(folder, 'tables.jsonl.gz', tableSchema).map(({ id, rows: own }) => [id, own]));
  const tables = new Map<string, Table>();
  return {
    questions: linesOf(folder, 'train.jsonl.gz', questionSchema),
    table: (id: string): Table => {
      const table = tables.get(id) ?? tableOf(rows.get(id) ?? []);
      tables.set(id, table);
      return table;
    },
  };
}

function linesOf<T>(folder: string, name: string, schema: z.ZodType<T>): T[] {
  const text = gunzipSync(readFileSync(path.join(folder, name))).toString('utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => schema.parse(JSON.parse(line)));
}
