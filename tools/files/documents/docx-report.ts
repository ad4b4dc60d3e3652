import { checkZip } from '../archives/zip-archive.ts';
import { quoteFileName } from '../find-file.ts';
import { fromLibrary } from '../from-library.ts';
import type { LoadedFile } from '../loaded-file.ts';

/**
 * Returns the text of a Word document, with its tables.
 *
 * @throws MeshError `tool` for other files
 */
export async function reportDocx(file: LoadedFile): Promise<string> {
  checkZip(file);
  const { default: mammoth } = await import('mammoth');
  const { value: html } = await fromLibrary(file, 'a Word document', () =>
    mammoth.convertToHtml(
      { buffer: Buffer.from(file.bytes) },
      // Pictures would become millions of characters of text. Only HTML keeps tables.
      {
        convertImage: mammoth.images.imgElement(async () => ({ src: 'picture' })),
        externalFileAccess: false,
      },
    ),
  );
  const text = await convertMarkdown(file, html);
  return `${quoteFileName(file.name)}: Word document, ${file.bytes.length} bytes\n\n${text.toWellFormed().trim()}`;
}

async function convertMarkdown(file: LoadedFile, html: string): Promise<string> {
  const { NodeHtmlMarkdown } = await import('node-html-markdown');
  try {
    return NodeHtmlMarkdown.translate(html);
  } catch (error) {
    // Tables nested deeper than the stack: their text can still be read.
    if (!(error instanceof RangeError)) throw error;
    const { convert } = await import('html-to-text');
    return fromLibrary(file, 'a Word document', () =>
      convert(html, { wordwrap: false, limits: { maxDepth: 500 } }),
    );
  }
}
