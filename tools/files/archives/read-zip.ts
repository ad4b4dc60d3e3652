import * as z from 'zod';
import type { DataTool } from '../../data-tool.ts';
import { loadTaskFile } from '../load-file.ts';
import { readInThread } from '../reading/reading-thread.ts';

const input = z.strictObject({
  file: z.string().min(1),
  entry: z.string().min(1).exactOptional().describe('in the archive'),
});

export const readZip: DataTool<z.infer<typeof input>> = {
  name: 'read_zip',
  description: 'Lists the members of a ZIP archive, or reads one.',
  input,
  async run({ file, entry }, place) {
    const loaded = await loadTaskFile(place, file);
    return readInThread(loaded, { kind: 'zip', ...(entry === undefined ? {} : { entry }) }, place.signal);
  },
};
