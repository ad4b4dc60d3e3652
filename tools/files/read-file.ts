import * as z from 'zod';
import type { DataTool } from '../data-tool.ts';
import { loadTaskFile } from './load-file.ts';
import { isWebPage } from './reading/reading.ts';
import { readInThread } from './reading/reading-thread.ts';
import { textReport } from './text-report.ts';

const input = z.strictObject({
  file: z.string().min(1),
});

export const readFile: DataTool<z.infer<typeof input>> = {
  name: 'read_file',
  description: 'Reads a text file: txt, md, json, xml, html, csv, code.',
  input,
  async run({ file }, place) {
    const loaded = await loadTaskFile(place, file);
    // A library reads it, which may hang over a page that was made for that.
    if (isWebPage(loaded.name)) return readInThread(loaded, { kind: 'html' }, place.signal);
    return { text: textReport(loaded) };
  },
};
