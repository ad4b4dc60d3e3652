import * as z from 'zod';
import type { DataTool } from '../../data-tool.ts';
import { loadTaskFile } from '../load-file.ts';
import { readInThread } from '../reading/reading-thread.ts';

/** As many rows as may be asked for; `query_table` calculates over all. */
const MAX_REPLY_ROWS = 5000;

const input = z.strictObject({
  file: z.string().min(1),
  sheet: z.string().min(1).exactOptional().describe('default all'),
  max_rows: z.int().min(1).max(MAX_REPLY_ROWS).exactOptional().describe('default 200'),
});

export const readExcel: DataTool<z.infer<typeof input>> = {
  name: 'read_excel',
  description:
    'Reads a spreadsheet (xlsx, xls, ods, csv, tsv): rows, formulas, merged cells, comments, fill colours.',
  input,
  async run({ file, sheet, max_rows: maxRows }, place) {
    const loaded = await loadTaskFile(place, file);
    const wanted = {
      ...(sheet === undefined ? {} : { sheet }),
      ...(maxRows === undefined ? {} : { maxRows }),
    };
    return readInThread(loaded, { kind: 'spreadsheet', ...wanted }, place.signal);
  },
};
