import { createHash } from 'node:crypto';
import path from 'node:path';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import { readUserFile } from '@gaia-mesh/core/system/files/user-file.ts';
import { parseJsonText } from '@gaia-mesh/core/system/parse-json.ts';
import { readConfined } from '@gaia-mesh/tools/files/read-confined.ts';
import * as z from 'zod';
import { questionSchema } from './question.ts';
import { type Questions, readQuestions, readTaskFile } from './read-questions.ts';

/** Maximum bytes of a table, which is held in memory. All of GAIA is under 1 MB. */
const MAX_TABLE_BYTES = 16 * 1024 * 1024;
/** Extensions of tables; other files have JSON lines. */
const TABLE_EXTENSIONS = ['.csv', '.parquet'];

const rowsSchema = z.array(z.record(z.string(), z.unknown()));
type Row = z.infer<typeof rowsSchema>[number];

/**
 * Reads questions from a file: JSON lines, or rows of a CSV or Parquet file with the same names, such as GAIA's
 * `metadata.parquet`.
 *
 * @throws MeshError `config` with file and row
 */
export async function readQuestionFile(file: string): Promise<Questions> {
  const rows = await readRows(file);
  if (rows === undefined) return readQuestions(file);
  const hash = createHash('sha256');
  const numbers = new Map<string, number>();
  const questions = rows.map((plain, index) => {
    const where = `${file}: row ${index + 1}`;
    hash.update(JSON.stringify(plain)).update('\n');
    const parsed = questionSchema.safeParse(plain);
    if (!parsed.success) throw new MeshError('config', `${where}: ${formatIssues(parsed.error)}`);
    const other = numbers.get(parsed.data.taskId);
    if (other !== undefined)
      throw new MeshError('config', `${where}: task_id ${parsed.data.taskId} is in row ${other} too`);
    numbers.set(parsed.data.taskId, index + 1);
    return parsed.data;
  });
  return { questions, sha256: hash.digest('hex') };
}

/**
 * Reads tasks from a file: JSON lines, or rows of a CSV or Parquet file with the same names, see {@link readTaskFile}.
 *
 * @throws MeshError `config` with file and line or row
 */
export async function readTasks(file: string, limit?: number): Promise<ReturnType<typeof readTaskFile>> {
  const rows = await readRows(file);
  return readTaskFile(
    file,
    limit,
    rows?.map((row) => JSON.stringify(row)),
  );
}

/** Normalizes a row: drops empty values, and parses a CSV list of aliases as JSON. */
function toPlainRow(row: Row): Record<string, unknown> {
  const entries = Object.entries(row).flatMap(([key, value]): [string, unknown][] => {
    if (value === null || value === undefined || value === '') return [];
    if (key === 'aliases' && typeof value === 'string') return [[key, parseList(value)]];
    // Columns that a question does not need (annotations, times) may hold anything.
    return typeof value === 'object' && !Array.isArray(value) ? [] : [[key, value]];
  });
  const plain = Object.fromEntries(entries);
  // GAIA's tables give a file's path in the repository; locally the file lies beside the table.
  const { file_name = plain.file_path } = plain;
  return file_name === undefined ? plain : { ...plain, file_name };
}

function parseList(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return [text];
  }
}

/**
 * Reads the rows of a table in a process without rights, because libraries take the memory that a file claims; returns undefined
 * for JSON lines.
 */
async function readRows(file: string): Promise<readonly Row[] | undefined> {
  if (!TABLE_EXTENSIONS.includes(path.extname(file).toLowerCase())) return undefined;
  const bytes = new Uint8Array(readUserFile(file, { what: 'question file', maxBytes: MAX_TABLE_BYTES }));
  let rows: readonly Row[];
  try {
    const name = path.basename(file);
    const text = await readConfined({ name, bytes }, { kind: 'rows' }, new AbortController().signal);
    rows = rowsSchema.parse(parseJsonText(text));
  } catch (error) {
    throw new MeshError('config', `${file} cannot be read: ${toErrorMessage(error)}`, { cause: error });
  }
  if (rows.length === 0) throw new MeshError('config', `${file}: there is no question in it`);
  return rows.map(toPlainRow);
}
