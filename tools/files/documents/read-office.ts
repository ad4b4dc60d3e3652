import * as z from 'zod';
import type { DataTool } from '../../data-tool.ts';
import { loadTaskFile } from '../load-file.ts';
import { readInThread } from '../reading-thread.ts';

/** A tool that reads one kind of office document whole, so that its name is all there is to say. */
function officeTool(kind: 'docx' | 'pptx', what: string, description: string) {
  const file = z.string().min(1).describe(`Name of the ${what}, as list_files writes it`);
  return {
    name: `read_${kind}`,
    description,
    input: z.strictObject({ file }),
    async run(input, place) {
      return readInThread(await loadTaskFile(place, input.file), { kind }, place.signal);
    },
  } satisfies DataTool<{ file: string }>;
}

export const readDocx = officeTool(
  'docx',
  'Word document',
  'Reads a Word document (docx) as Markdown: headings, lists, tables, links and footnotes, without its pictures.',
);

export const readPptx = officeTool(
  'pptx',
  'presentation',
  'Reads a PowerPoint presentation (pptx) slide by slide: titles, texts, tables, diagrams, descriptions of pictures, notes.',
);
