import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { JOB_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { readUserFile } from '@gaia-mesh/core/system/files/user-file.ts';
import { parseJsonText } from '@gaia-mesh/core/system/parse-json.ts';
import { readConfined } from '@gaia-mesh/tools/files/read-confined.ts';
import * as z from 'zod';
import { type Questions, readQuestions, readTaskFile } from './read-questions.ts';
import type { TextLine } from './text-lines.ts';

/** Maximum bytes of a table, which is held in memory. All of GAIA is under 1 MB. */
const MAX_TABLE_BYTES = 16 * 1024 * 1024;
/** Extensions of tables; other files have JSON lines. */
const TABLE_EXTENSIONS = ['.csv', '.parquet'];

/** Rows of a table, each with its line in a CSV file, or its number among the rows of a Parquet file. */
const rowsSchema = z.array(z.object({ number: z.int(), row: z.record(z.string(), z.unknown()) }));
type Row = z.infer<typeof rowsSchema>[number]['row'];

/**
 * Reads questions from a file: JSON lines, or rows of a CSV or Parquet file with the same names, such as GAIA's
 * `metadata.parquet`.
 *
 * @throws MeshError `config` with file and line or row
 */
export async function readQuestionFile(file: string): Promise<Questions> {
  return readQuestions(file, await readRows(file));
}

/**
 * Reads tasks from a file: JSON lines, or rows of a CSV or Parquet file with the same names, see {@link readTaskFile}.
 *
 * @throws MeshError `config` with file and line or row
 */
export async function readTasks(file: string, limit?: number): Promise<ReturnType<typeof readTaskFile>> {
  return readTaskFile(file, limit, await readRows(file));
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
 * Reads the rows of a table as lines, or returns undefined for JSON lines. A process without rights reads the table, because
 * libraries take as much memory as a file claims to need.
 */
async function readRows(file: string): Promise<readonly TextLine[] | undefined> {
  if (!TABLE_EXTENSIONS.includes(path.extname(file).toLowerCase())) return undefined;
  const bytes = new Uint8Array(readUserFile(file, { what: 'question file', maxBytes: MAX_TABLE_BYTES }));
  let text: string;
  try {
    const { signal } = new AbortController();
    // The reader names the file in its errors by the whole path.
    ({ text } = await readConfined({ name: file, bytes }, { kind: 'rows' }, signal, JOB_LIMITS.rows));
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    throw new MeshError('config', error.message, { cause: error });
  }
  return rowsSchema.parse(parseJsonText(text)).map(({ number, row }) => {
    const line = JSON.stringify(toPlainRow(row));
    return { text: line, number, at: undefined, bytes: line.length };
  });
}
