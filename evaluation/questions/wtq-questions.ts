import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { makeFolder } from '@gaia-mesh/core/system/files/make-folder.ts';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import { askForItems } from '@gaia-mesh/tools/tables/answer-form.ts';
import * as z from 'zod';
import type { Question } from './question.ts';
import { type Questions, readJsonLines } from './read-questions.ts';

const questionSchema = z.object({
  id: z.string().min(1).max(200),
  question: z.string().min(1),
  table: z.string().min(1).max(200),
  answers: z.array(z.string()).default([]),
});
const tableSchema = z.object({ id: z.string().min(1).max(200), rows: z.array(z.array(z.string())).min(1) });

/**
 * Reads questions about tables in the format of WikiTableQuestions: lines `{"id", "question", "table", "answers"}`, and tables
 * `{"id", "rows"}`, plain or gzipped. Each table is written to `folder` as CSV and becomes the attachment of its questions.
 *
 * @throws MeshError `config` with the line, also for a missing table
 */
export function readWtq(
  questionsFile: string,
  tablesFile: string,
  {
    limit = Number.POSITIVE_INFINITY,
    folder,
  }: { readonly limit?: number | undefined; readonly folder: string },
): Questions {
  const { entries, sha256 } = readJsonLines(questionsFile, 'question', limit, (line, where) => {
    const { id, ...others } = parseJsonLine(line, questionSchema, where);
    return { taskId: id, where, ...others };
  });
  const wanted = new Map<string, string>();
  for (const { table, where } of entries) wanted.set(table, wanted.get(table) ?? where);
  const tables = readJsonLines(tablesFile, 'table', Number.POSITIVE_INFINITY, (line, where) => {
    const { id, rows } = parseJsonLine(line, tableSchema, where);
    return { taskId: id, rows: wanted.has(id) ? rows : [] };
  });
  makeFolder(folder);
  const written = new Set<string>();
  for (const { taskId, rows } of tables.entries) {
    if (rows.length === 0) continue;
    writeFileSync(path.join(folder, nameTableFile(taskId)), formatTableCsv(rows), { mode: 0o600 });
    written.add(taskId);
  }
  for (const [table, where] of wanted)
    if (!written.has(table))
      throw new MeshError('config', `${where}: there is no table ${table} in ${tablesFile}`);
  const questions = entries.map(
    ({ taskId, question, table, answers }): Question => ({
      taskId,
      question: askForItems(question),
      category: 'table',
      truths: answers,
      fileName: nameTableFile(table),
      scorer: 'wtq',
    }),
  );
  return { questions, sha256: `${sha256} ${tables.sha256}` };
}

/** Returns a safe file name for a table; the id is given by the file. */
const nameTableFile = (id: string) => `table-${id.replaceAll(/[^A-Za-z0-9-]/g, '_')}.csv`;

const formatTableCsv = (rows: readonly (readonly string[])[]) =>
  rows.map((row) => `${row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')}\n`).join('');
