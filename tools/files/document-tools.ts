import { JOB_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { DataTool } from '../data-tool.ts';
import { loadTaskFile } from './find-file.ts';
import { readConfined } from './read-confined.ts';
import { isWebPage, type Reading } from './reading/reading.ts';
import { reportText } from './text-report.ts';

/**
 * Creates a tool that reads files of one kind by a library, in a process of its own. `reading` converts its input to a reading.
 */
function createDocumentTool<Asked extends JsonObject & { readonly file: string }>(
  name: string,
  description: string,
  input: z.ZodType<Asked>,
  reading: (asked: Asked) => Reading,
): DataTool<Asked> {
  return {
    name,
    description,
    input,
    async run(asked, context) {
      return readConfined(
        await loadTaskFile(context, asked.file),
        reading(asked),
        context.signal,
        JOB_LIMITS.taskDocument,
      );
    },
  };
}

const file = z.string().min(1);

const textInput = z.strictObject({ file });

const readFile: DataTool<z.infer<typeof textInput>> = {
  name: 'read_file',
  description: 'Reads a text file: txt, md, json, xml, html, csv, code.',
  input: textInput,
  async run(asked, context) {
    const loaded = await loadTaskFile(context, asked.file);
    // A hostile page could make its library hang, so a process of its own reads it.
    if (isWebPage(loaded.name))
      return readConfined(loaded, { kind: 'html' }, context.signal, JOB_LIMITS.taskDocument);
    return { text: reportText(loaded) };
  },
};

/** Maximum rows of a reply; `query_table` computes over all rows. */
const MAX_REPLY_ROWS = 5000;

const readExcel = createDocumentTool(
  'read_excel',
  'Reads a spreadsheet (xlsx, xls, ods, csv, tsv): rows, formulas, merged cells, comments, fill colours.',
  z.strictObject({
    file,
    sheet: z.string().min(1).exactOptional().describe('default all'),
    max_rows: z.int().min(1).max(MAX_REPLY_ROWS).exactOptional().describe('default 200'),
  }),
  ({ sheet, max_rows: maxRows }) => ({ kind: 'spreadsheet', sheet, maxRows }),
);

const readPdf = createDocumentTool(
  'read_pdf',
  'Reads the text of a PDF page by page.',
  z.strictObject({
    file,
    pages: z
      .string()
      .regex(/^\s*\d{1,5}(\s*-\s*\d{1,5})?(\s*,\s*\d{1,5}(\s*-\s*\d{1,5})?)*\s*$/, 'must be like 2-4,7')
      .max(200)
      .exactOptional()
      .describe('e.g. 2-4,7'),
  }),
  ({ pages }) => ({ kind: 'pdf', pages }),
);

const readDocx = createDocumentTool(
  'read_docx',
  'Reads a Word document (docx) as Markdown: headings, lists, tables, links and footnotes, without its pictures.',
  z.strictObject({ file }),
  () => ({ kind: 'docx' }),
);

const readPptx = createDocumentTool(
  'read_pptx',
  'Reads a PowerPoint file (pptx) slide by slide, with tables and notes.',
  z.strictObject({ file }),
  () => ({ kind: 'pptx' }),
);

const readZip = createDocumentTool(
  'read_zip',
  'Lists the members of a ZIP archive, or reads one.',
  z.strictObject({ file, entry: z.string().min(1).exactOptional().describe('in the archive') }),
  ({ entry }) => ({ kind: 'zip', entry }),
);

/** The tools that read files of the task, by name. */
export const documentTools = {
  read_file: readFile,
  read_excel: readExcel,
  read_pdf: readPdf,
  read_docx: readDocx,
  read_pptx: readPptx,
  read_zip: readZip,
};
