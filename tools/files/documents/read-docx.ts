import * as z from 'zod';
import type { DataTool } from '../../data-tool.ts';
import { loadTaskFile } from '../load-file.ts';
import { readInThread } from '../reading-thread.ts';

const input = z.strictObject({
  file: z.string().min(1).describe('Name of the Word document, as list_files writes it'),
});

export const readDocx: DataTool<z.infer<typeof input>> = {
  name: 'read_docx',
  description:
    'Reads a Word document (docx) as Markdown: headings, lists, tables, links and footnotes, without its pictures.',
  input,
  async run({ file }, place) {
    return readInThread(await loadTaskFile(place, file), { kind: 'docx' }, place.signal);
  },
};
