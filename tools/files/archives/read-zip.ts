import * as z from 'zod';
import type { DataTool } from '../../data-tool.ts';
import { loadTaskFile } from '../load-file.ts';
import { readInThread } from '../reading-thread.ts';

const input = z.strictObject({
  file: z.string().min(1).describe('Name of the archive, as list_files writes it'),
  entry: z
    .string()
    .min(1)
    .exactOptional()
    .describe('Name of the member to read; without it, the members are listed'),
});

export const readZip: DataTool<z.infer<typeof input>> = {
  name: 'read_zip',
  description:
    'Lists the members of a ZIP archive, or reads one of them: a text, spreadsheet, PDF, Word or PowerPoint document.',
  input,
  async run({ file, entry }, place) {
    const loaded = await loadTaskFile(place, file);
    return readInThread(loaded, { kind: 'zip', ...(entry === undefined ? {} : { entry }) }, place.signal);
  },
};
