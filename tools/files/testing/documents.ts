import JSZip from 'jszip';
import type { LoadedFile } from '../loaded-file.ts';

/** Functions that write small documents by the rules of their formats, so that a test itself has the content that it expects. */

export async function zipOf(
  members: Readonly<Record<string, string | Uint8Array>>,
): Promise<Uint8Array<ArrayBuffer>> {
  const zip = new JSZip();
  for (const [name, content] of Object.entries(members)) zip.file(name, content);
  return new Uint8Array(await zip.generateAsync({ type: 'arraybuffer', compression: 'DEFLATE' }));
}

/** Returns a file as the tools load it. The bytes are copied, since threads and libraries take them over. */
export function loaded(name: string, content: string | Uint8Array): LoadedFile {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return { name, bytes: new Uint8Array(bytes) };
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';

/** Writes the part of a package that lists the locations of others: id → [last word of its type, target]. */
function relations(all: Readonly<Record<string, readonly [kind: string, target: string]>>): string {
  const lines = Object.entries(all).map(
    ([id, [kind, target]]) => `<Relationship Id="${id}" Type="${OFFICE}/${kind}" Target="${target}"/>`,
  );
  return `${XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${lines.join('')}</Relationships>`;
}

function contentTypes(parts: Readonly<Record<string, string>>): string {
  const lines = Object.entries(parts).map(
    ([part, type]) =>
      `<Override PartName="/${part}" ContentType="application/vnd.openxmlformats-officedocument.${type}+xml"/>`,
  );
  return (
    `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ` +
    `ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>` +
    `${lines.join('')}</Types>`
  );
}

/**
 * Writes a workbook with one sheet that has features which the library cannot write. `fills` are the cell styles 1, 2, …: elements
 * of `patternFill`.
 */
export function styledXlsx(sheetRows: string, fills: readonly string[]): Promise<Uint8Array<ArrayBuffer>> {
  const patterns = ['<patternFill patternType="none"/>', '<patternFill patternType="gray125"/>'].concat(
    fills.map((fill) => `<patternFill patternType="solid">${fill}</patternFill>`),
  );
  const styles = ['<xf/>', ...fills.map((_, i) => `<xf fillId="${i + 2}" applyFill="1"/>`)];
  return zipOf({
    '[Content_Types].xml': contentTypes({
      'xl/workbook.xml': 'spreadsheetml.sheet.main',
      'xl/worksheets/sheet1.xml': 'spreadsheetml.worksheet',
      'xl/styles.xml': 'spreadsheetml.styles',
    }),
    '_rels/.rels': relations({ r1: ['officeDocument', 'xl/workbook.xml'] }),
    'xl/workbook.xml': `${XML}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="Map" sheetId="1" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations({
      r1: ['worksheet', 'worksheets/sheet1.xml'],
      r2: ['styles', 'styles.xml'],
    }),
    'xl/styles.xml':
      `${XML}<styleSheet xmlns="${MAIN}"><fonts count="1"><font><sz val="11"/></font></fonts>` +
      `<fills>${patterns.map((pattern) => `<fill>${pattern}</fill>`).join('')}</fills><borders><border/></borders>` +
      `<cellStyleXfs><xf/></cellStyleXfs><cellXfs>${styles.join('')}</cellXfs></styleSheet>`,
    'xl/worksheets/sheet1.xml': `${XML}<worksheet xmlns="${MAIN}"><sheetData>${sheetRows}</sheetData></worksheet>`,
  });
}

/** @param body elements of `w:body` */
export function docxOf(body: string): Promise<Uint8Array<ArrayBuffer>> {
  return zipOf({
    '[Content_Types].xml': contentTypes({ 'word/document.xml': 'wordprocessingml.document.main' }),
    '_rels/.rels': relations({ r1: ['officeDocument', 'word/document.xml'] }),
    'word/document.xml': `${XML}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`,
  });
}

export const docxParagraph = (text: string, style = ''): string =>
  `<w:p>${style === '' ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}<w:r><w:t>${text}</w:t></w:r></w:p>`;

interface TestSlide {
  /** Elements of `p:spTree`. */
  readonly shapes: string;
  readonly notes?: string;
  readonly isHidden?: boolean;
}

/** Writes a presentation. The first slide of the show is the last file, so that only the relations give the order. */
export function pptxOf(slides: readonly TestSlide[]): Promise<Uint8Array<ArrayBuffer>> {
  const names = 'xmlns:a="urn:a" xmlns:p="urn:p" xmlns:r="urn:r"';
  const parts: Record<string, string> = {};
  const targets: Record<string, readonly [string, string]> = {};
  slides.forEach(({ shapes, notes, isHidden }, i) => {
    const file = slides.length - i;
    targets[`r${i}`] = ['slide', `slides/slide${file}.xml`];
    parts[`ppt/slides/slide${file}.xml`] =
      `${XML}<p:sld ${names}${isHidden ? ' show="0"' : ''}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`;
    if (notes === undefined) return;
    parts[`ppt/slides/_rels/slide${file}.xml.rels`] = relations({
      n: ['notesSlide', `../notesSlides/notes${file}.xml`],
    });
    parts[`ppt/notesSlides/notes${file}.xml`] =
      `${XML}<p:notes ${names}><p:cSld><p:spTree>${shapeOf([notes], 'body')}${shapeOf(['7'], 'sldNum')}</p:spTree></p:cSld></p:notes>`;
  });
  const list = slides.map((_, i) => `<p:sldId r:id="r${i}" id="${256 + i}"/>`).join('');
  return zipOf({
    'ppt/presentation.xml': `${XML}<p:presentation ${names}><p:sldIdLst>${list}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations(targets),
    ...parts,
  });
}

/** A shape with paragraphs; `place` is its placeholder in the layout. */
export function shapeOf(paragraphs: readonly string[], place = ''): string {
  const ph =
    place === ''
      ? ''
      : `<p:nvSpPr><p:cNvPr id="2" name="Shape"/><p:nvPr><p:ph type="${place}"/></p:nvPr></p:nvSpPr>`;
  return `<p:sp>${ph}<p:txBody>${paragraphs.map((text) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`).join('')}</p:txBody></p:sp>`;
}

/** A PDF document (1.4), one content stream a page. `filter` packs the streams. */
export function pdfOf(
  pages: readonly string[],
  filter: { readonly name: string; readonly pack: (stream: Buffer) => Buffer } | undefined = undefined,
): Uint8Array<ArrayBuffer> {
  const objects: Buffer[] = [
    Buffer.from('<< /Type /Catalog /Pages 2 0 R >>'),
    Buffer.from(
      `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, i) => `${4 + 2 * i} 0 R`).join(' ')}] >>`,
    ),
    Buffer.from('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'),
  ];
  pages.forEach((content, i) => {
    const stream = filter === undefined ? Buffer.from(content) : filter.pack(Buffer.from(content));
    const packed = filter === undefined ? '' : ` /Filter ${filter.name}`;
    objects.push(
      Buffer.from(
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + 2 * i} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      ),
      Buffer.concat([
        Buffer.from(`<< /Length ${stream.length}${packed} >>\nstream\n`),
        stream,
        Buffer.from('\nendstream'),
      ]),
    );
  });
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  const offsets: number[] = [];
  let length = 9;
  for (const [i, object] of objects.entries()) {
    const part = Buffer.concat([Buffer.from(`${i + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')]);
    offsets.push(length);
    parts.push(part);
    length += part.length;
  }
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  parts.push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\n` +
        `startxref\n${length}\n%%EOF\n`,
    ),
  );
  return new Uint8Array(Buffer.concat(parts));
}

/** Lines of text down a page, by the operators of a content stream. */
export function pdfText(lines: readonly string[]): string {
  return `BT /F1 12 Tf 72 720 Td ${lines.map((line) => `(${line}) Tj 0 -20 Td`).join(' ')} ET`;
}
