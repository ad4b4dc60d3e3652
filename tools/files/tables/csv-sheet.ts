import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { CellValue } from '../../tables/values/value.ts';
import { quoteFileName } from '../find-file.ts';
import { fromLibrary } from '../from-library.ts';
import type { LoadedFile } from '../loaded-file.ts';
import { readExtension } from '../reading/readers.ts';
import { decodeText } from '../text-encoding.ts';
import { MAX_COLUMNS, MAX_ROWS, type Sheet, type SheetRow } from './sheet.ts';

const DELIMITERS = [',', ';', '\t', '|'] as const;
/** Length of the beginning that is searched for the delimiter. */
const SAMPLE_CHARACTERS = 16 * 1024;
/** Maximum length of a record; a longer one has a quote that was never closed. */
const MAX_RECORD_CHARACTERS = 1024 * 1024;

/**
 * Parses a CSV file of any delimiter and encoding to a sheet. Values stay texts: `007` is not a number.
 *
 * @throws MeshError `tool` for a file that is not text
 */
export async function parseCsvSheet(file: LoadedFile): Promise<Sheet> {
  const decoded = decodeText(file.bytes);
  if (decoded === undefined) {
    throw new MeshError(
      'tool',
      `${quoteFileName(file.name)} (${file.bytes.length} bytes) is not a spreadsheet: neither XLSX, XLS, ODS nor text`,
    );
  }
  const { text } = decoded;
  const { parse } = await import('csv-parse/sync');
  const delimiter = detectDelimiter(text, readExtension(file.name) === 'tsv');
  const records = await fromLibrary(file, 'CSV', (): unknown =>
    parse(text, {
      delimiter,
      bom: true,
      relax_column_count: true,
      relax_quotes: true,
      max_record_size: MAX_RECORD_CHARACTERS,
      to: MAX_ROWS + 1,
    }),
  );
  const rows = (Array.isArray(records) ? records : []).map((record, i) => toSheetRow(record, i));
  return {
    name: 'CSV',
    isHidden: false,
    rows: rows.slice(0, MAX_ROWS).filter(({ cells }) => cells.some((cell) => cell !== null)),
    isWhole: rows.length <= MAX_ROWS && rows.every(({ cells }) => cells.length <= MAX_COLUMNS),
    formulas: [],
    comments: [],
    merged: [],
    fills: new Map(),
  };
}

function toSheetRow(record: unknown, index: number): SheetRow {
  const cells = (Array.isArray(record) ? record : []).map((cell): CellValue => {
    const text = String(cell).toWellFormed();
    return text.trim() === '' ? null : text;
  });
  return { number: index + 1, cells: cells.slice(0, MAX_COLUMNS + 1) };
}

/** Returns the delimiter that the first lines have equally often, and most often. */
function detectDelimiter(text: string, isTabbed: boolean): string {
  const sample = text.slice(0, SAMPLE_CHARACTERS).replace(/"[^"]*"/g, '');
  const lines = sample
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .slice(0, 20);
  if (isTabbed && sample.includes('\t')) return '\t';
  let best: string = DELIMITERS[0];
  let bestScore = 0;
  for (const delimiter of DELIMITERS) {
    const counts = lines.map((line) => line.split(delimiter).length - 1);
    const first = counts[0] ?? 0;
    const alike = counts.filter((count) => count === first).length;
    const score = first === 0 ? 0 : alike * 1000 + Math.min(first, 999);
    if (score > bestScore) {
      best = delimiter;
      bestScore = score;
    }
  }
  return best;
}
