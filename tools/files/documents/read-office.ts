import * as z from 'zod';
import type { DataTool } from '../../data-tool.ts';
import { loadTaskFile } from '../load-file.ts';
import { readInThread } from '../reading/reading-thread.ts';

/** A tool that reads one kind of office document whole, so that its name is all there is to say. */
function officeTool(kind: 'docx' | 'pptx', description: string) {
  return {
    name: `read_${kind}`,
    description,
    input: z.strictObject({ file: z.string().min(1) }),
    async run(input, place) {
      return readInThread(await loadTaskFile(place, input.file), { kind }, place.signal);
    },
  } satisfies DataTool<{ file: string }>;
}

export const readDocx = officeTool(
  'docx',
  'Reads a Word document (docx) as Markdown: headings, lists, tables, links and footnotes, without its pictures.',
);

export const readPptx = officeTool(
  'pptx',
  'Reads a PowerPoint file (pptx) slide by slide, with tables and notes.',
);
