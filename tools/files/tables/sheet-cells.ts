import { numberIn } from '../../tables/values/number.ts';
import type { CellValue } from '../../tables/values/value.ts';
import type { LoadedFile } from '../load-file.ts';
import { tableOf } from './sheet.ts';
import { sheetsOf } from './workbook.ts';

/** Of a workbook: what programs of a question work on. Rows beyond it are left out. */
const MAX_CELLS = 300_000;

/** The sheets of a spreadsheet as `[{ name, columns, rows }]`, in JSON. Numbers of a CSV file are numbers. @throws MeshError `tool` */
export async function sheetCells(file: LoadedFile): Promise<string> {
  let room = MAX_CELLS;
  const sheets = (await sheetsOf(file)).map((sheet) => {
    const { columns, rows } = tableOf(sheet);
    const kept = rows.slice(0, Math.floor(room / Math.max(1, columns.length)));
    room -= kept.length * columns.length;
    return {
      name: sheet.name,
      columns,
      rows: kept.map(({ cells }) => columns.map((_, i) => plain(cells[i] ?? null))),
    };
  });
  return JSON.stringify(sheets);
}

/** A code such as 007 stays a text. */
function plain(cell: CellValue): CellValue {
  if (typeof cell !== 'string' || !/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(cell)) return cell;
  return numberIn(cell) ?? cell;
}
