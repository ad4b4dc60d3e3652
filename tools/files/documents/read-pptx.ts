import * as z from 'zod';
import type { DataTool } from '../../data-tool.ts';
import { loadTaskFile } from '../load-file.ts';
import { readInThread } from '../reading-thread.ts';

const input = z.strictObject({
  file: z.string().min(1).describe('Name of the presentation, as list_files writes it'),
});

export const readPptx: DataTool<z.infer<typeof input>> = {
  name: 'read_pptx',
  description:
    'Reads a PowerPoint presentation (pptx) slide by slide: titles, texts, tables, diagrams, descriptions of pictures, notes.',
  input,
  async run({ file }, place) {
    return readInThread(await loadTaskFile(place, file), { kind: 'pptx' }, place.signal);
  },
};
