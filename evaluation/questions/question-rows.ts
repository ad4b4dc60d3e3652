import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import {
  explainFileFault,
  MeshError,
  readSystemCode,
  toErrorMessage,
} from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import { questionSchema } from './question.ts';
import { type Questions, readQuestions } from './read-questions.ts';

/** Maximum bytes of a table, which is held in memory. All of GAIA is under 1 MB. */
const MAX_TABLE_BYTES = 64 * 1024 * 1024;
/** Maximum bytes of an unpacked page of a Parquet file; a small file may unpack to any size. */
const MAX_PAGE_BYTES = 64 * 1024 * 1024;
const MAX_ROWS = 100_000;

type Row = Readonly<Record<string, unknown>>;

/** Readers of row files by file extension. */
const READERS: Readonly<Record<string, (bytes: Buffer) => Promise<readonly Row[]>>> = {
  '.csv': parseCsvRows,
  '.parquet': readParquetRows,
};

/**
 * Reads questions from a file: JSON lines, or rows of a CSV or Parquet file with the same names, such as GAIA's
 * `metadata.parquet`.
 *
 * @throws MeshError `config` with file and row
 */
export async function readQuestionFile(file: string): Promise<Questions> {
  const rowsOf = READERS[path.extname(file).toLowerCase()];
  if (rowsOf === undefined) return readQuestions(file);
  let rows: readonly Row[];
  try {
    rows = await rowsOf(readTableBytes(file));
  } catch (error) {
    if (error instanceof MeshError) throw error;
    throw new MeshError('config', `${file} cannot be read: ${toErrorMessage(error)}`, { cause: error });
  }
  if (rows.length === 0) throw new MeshError('config', `${file}: there is no question in it`);
  if (rows.length > MAX_ROWS)
    throw new MeshError('config', `${file}: ${rows.length} rows; a question file has at most ${MAX_ROWS}`);
  const hash = createHash('sha256');
  const numbers = new Map<string, number>();
  const questions = rows.map((row, index) => {
    const where = `${file}: row ${index + 1}`;
    const plain = toPlainRow(row);
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

/** Normalizes a row: drops empty values, converts Parquet's BigInt numbers, and parses a CSV list of aliases as JSON. */
function toPlainRow(row: Row): Record<string, unknown> {
  const entries = Object.entries(row).flatMap(([key, value]): [string, unknown][] => {
    if (value === null || value === undefined || value === '') return [];
    if (typeof value === 'bigint') return [[key, Number(value)]];
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

async function parseCsvRows(bytes: Buffer): Promise<Row[]> {
  const { parse } = await import('csv-parse/sync');
  return parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes), {
    bom: true,
    columns: true,
    skip_empty_lines: true,
  });
}

async function readParquetRows(bytes: Buffer): Promise<Row[]> {
  const { parquetReadObjects } = await import('hyparquet');
  const maxOutputLength = MAX_PAGE_BYTES;
  const own = new Uint8Array(bytes).buffer;
  return parquetReadObjects({
    file: own,
    compressors: {
      GZIP: (input) => gunzipSync(input, { maxOutputLength }),
      BROTLI: (input) => brotliDecompressSync(input, { maxOutputLength }),
      ZSTD: (input) => zstdDecompressSync(input, { maxOutputLength }),
    },
  });
}

function readTableBytes(file: string): Buffer {
  try {
    const { size } = statSync(file);
    if (size > MAX_TABLE_BYTES)
      throw new MeshError(
        'config',
        `${file}: ${size} bytes; a table of questions has at most ${MAX_TABLE_BYTES}`,
      );
    return readFileSync(file);
  } catch (error) {
    if (error instanceof MeshError || readSystemCode(error) === undefined) throw error;
    throw new MeshError('config', `question file ${file}: ${explainFileFault(error)}`, { cause: error });
  }
}
