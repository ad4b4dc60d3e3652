import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { fromLibrary, type LoadedFile, quoteFileName } from '../loaded-file.ts';
import { readExtension } from '../reading/readers.ts';
import { decodeText } from '../text-encoding.ts';

/** Maximum bytes of an unpacked page of a Parquet file; a small file may unpack to any size. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;
/** Maximum rows of a table of questions. */
const MAX_ROWS = 100_000;
/** Maximum characters of a row: a question with its context, and notes about it. */
const MAX_ROW_CHARACTERS = 4 * 1024 * 1024;

/** A row, with its line in a CSV file, or its number among the rows of a Parquet file. */
interface NumberedRow {
  readonly number: number;
  readonly row: unknown;
}

/**
 * Returns the {@link NumberedRow}s of a table of questions, which is CSV or Parquet, as JSON. The libraries take as much memory
 * as a file claims to need, so a caller with much to lose runs this in a process of its own.
 *
 * @throws MeshError `tool` for a file that is no such table, or has too many rows
 */
export async function exportRows(file: LoadedFile): Promise<string> {
  const rows = await (readExtension(file.name) === 'parquet' ? readParquetRows(file) : parseCsvRows(file));
  if (rows.length > MAX_ROWS)
    throw new MeshError(
      'tool',
      `${quoteFileName(file.name)}: more than ${MAX_ROWS} rows, which is the most of a question file`,
    );
  // JSON has no integers of 64 bits; those of a question are levels and ids.
  return JSON.stringify(rows, (_key, value) => (typeof value === 'bigint' ? Number(value) : value));
}

/** Parses CSV whose first line has the names of the columns. */
async function parseCsvRows(file: LoadedFile): Promise<readonly NumberedRow[]> {
  const { parse } = await import('csv-parse/sync');
  return fromLibrary(file, 'CSV', () => {
    const { text, delimiter, firstLine } = readCsvText(file);
    const rows: NumberedRow[] = [];
    parse(text, {
      bom: true,
      delimiter,
      from_line: firstLine,
      columns: true,
      skip_empty_lines: true,
      info: true,
      raw: true,
      max_record_size: MAX_ROW_CHARACTERS,
      to: MAX_ROWS + 1,
      on_record({ record, info, raw }) {
        // The parser counts up to the record's end.
        const more = raw.trim().split('\n').length - 1;
        rows.push({ number: info.lines - more, row: record });
      },
    });
    return rows;
  });
}

/** Maximum characters of a header that a message shows. */
const MAX_HEADER_CHARACTERS = 100;
/** Delimiters of CSV; programs in languages with a decimal comma write semicolons. */
const DELIMITERS = [',', ';', '\t'];

/** Decodes CSV in UTF-8 or UTF-16, and finds the line of its header and its delimiter. */
function readCsvText({ name, bytes }: LoadedFile): {
  readonly text: string;
  readonly delimiter: string;
  readonly firstLine: number;
} {
  const decoded = decodeText(bytes);
  const text = (
    decoded?.encoding.startsWith('utf-16')
      ? decoded.text
      : new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  ).replaceAll(/\r\n?/g, '\n');
  // Excel reads its delimiter from such a first line.
  const [declaration = '', declared] = /^sep=(.)\n/.exec(text) ?? [];
  const firstLine = declared === undefined ? 1 : 2;
  const [header = ''] = text.slice(declaration.length).trimStart().split('\n', 1);
  const isIdColumn = (column: string) => /^"?task_id"?$/.test(column.trim());
  const found = (declared === undefined ? DELIMITERS : [declared]).find(
    (delimiter) => header.split(delimiter).filter(isIdColumn).length === 1,
  );
  if (found !== undefined) return { text, delimiter: found, firstLine };
  throw new MeshError(
    'tool',
    `${quoteFileName(name)}:${firstLine}: expected the names of columns, one of them task_id, with commas, semicolons or tabs between them, not ${JSON.stringify(header.slice(0, MAX_HEADER_CHARACTERS))}`,
  );
}

/** Reads a Parquet table, such as GAIA's. */
async function readParquetRows(file: LoadedFile): Promise<readonly NumberedRow[]> {
  const { parquetReadObjects } = await import('hyparquet');
  const maxOutputLength = MAX_PAGE_BYTES;
  const rows = await fromLibrary(file, 'a Parquet table', () =>
    parquetReadObjects({
      // A copy, because the bytes may be a part of a larger buffer.
      file: new Uint8Array(file.bytes).buffer,
      rowEnd: MAX_ROWS + 1,
      compressors: {
        GZIP: (input) => gunzipSync(input, { maxOutputLength }),
        BROTLI: (input) => brotliDecompressSync(input, { maxOutputLength }),
        ZSTD: (input) => zstdDecompressSync(input, { maxOutputLength }),
      },
    }),
  );
  return rows.map((row, index) => ({ number: index + 1, row }));
}
