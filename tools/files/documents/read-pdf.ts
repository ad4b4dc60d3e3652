import * as z from 'zod';
import type { DataTool } from '../../data-tool.ts';
import { loadTaskFile } from '../load-file.ts';
import { readInThread } from '../reading/reading-thread.ts';

const input = z.strictObject({
  file: z.string().min(1),
  pages: z
    .string()
    .regex(/^\s*\d{1,5}(\s*-\s*\d{1,5})?(\s*,\s*\d{1,5}(\s*-\s*\d{1,5})?)*\s*$/, 'must be like 2-4,7')
    .max(200)
    .exactOptional()
    .describe('e.g. 2-4,7'),
});

export const readPdf: DataTool<z.infer<typeof input>> = {
  name: 'read_pdf',
  description: 'Reads the text of a PDF page by page.',
  input,
  async run({ file, pages }, place) {
    const loaded = await loadTaskFile(place, file);
    return readInThread(loaded, { kind: 'pdf', ...(pages === undefined ? {} : { pages }) }, place.signal);
  },
};
