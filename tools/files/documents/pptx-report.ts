import path from 'node:path';
import { XMLParser } from 'fast-xml-parser';
import * as z from 'zod';
import { openZip } from '../archives/zip-archive.ts';
import { fromLibrary, type LoadedFile, quoteFileName } from '../loaded-file.ts';
import { renderMarkdownTable } from '../tables/markdown-table.ts';

/** Maximum slides read. */
const MAX_SLIDES = 2000;

/** Returns the XML of a part of a presentation by its name; undefined when there is no such part. */
type Parts = (name: string) => XmlElement | undefined;

/**
 * Returns the text of a presentation, slide by slide.
 *
 * @throws MeshError `tool` for other files
 */
export async function reportPptx(file: LoadedFile): Promise<string> {
  const members = new Map(openZip(file).map((member) => [member.name, member]));
  const parts: Parts = (name) => {
    const member = members.get(name);
    return member && parseXml(new TextDecoder().decode(member.read()));
  };
  const slides = await fromLibrary(file, 'a PowerPoint presentation', () => listSlides(parts));
  const head = `${quoteFileName(file.name)}: PowerPoint presentation, ${file.bytes.length} bytes, ${slides.length} slides`;
  const left = slides.length > MAX_SLIDES ? [`[cut: ${slides.length - MAX_SLIDES} more slides]`] : [];
  const texts = await fromLibrary(file, 'a PowerPoint presentation', () =>
    slides.slice(0, MAX_SLIDES).map((name, i) => formatSlide(parts, name, i + 1)),
  );
  return [head, ...texts, ...left].join('\n\n').toWellFormed();
}

/** Lists the slides' part names in the order of the show: files are numbered in the order of their creation. */
function listSlides(parts: Parts): string[] {
  const name = 'ppt/presentation.xml';
  const presentation = parts(name);
  if (presentation === undefined) throw new Error(`it has no ${name}`);
  const targets = new Map(readRelations(parts, name).map(({ id, target }) => [id, target]));
  return findElements(presentation, 'sldId').flatMap(({ attributes }) => {
    // The attribute is `r:id`, with any prefix; a plain `id` is the slide's own number.
    const id = Object.keys(attributes).find((key) => key.endsWith(':id'));
    const target = targets.get(attributes[id ?? ''] ?? '');
    return target === undefined ? [] : [target];
  });
}

interface Relation {
  readonly id: string;
  /** The last word of its type: `slide`, `notesSlide`, `chart`. */
  readonly kind: string;
  /** A part name. */
  readonly target: string;
}

function readRelations(parts: Parts, partName: string): Relation[] {
  const folder = path.posix.dirname(partName);
  const relations = parts(`${folder}/_rels/${path.posix.basename(partName)}.rels`);
  return (relations?.children ?? []).flatMap(
    ({ attributes: { Id = '', Type = '', Target = '', TargetMode } }) =>
      TargetMode === 'External'
        ? []
        : [
            {
              id: Id,
              kind: path.posix.basename(Type),
              target: path.posix.resolve('/', folder, Target).slice(1),
            },
          ],
  );
}

function formatSlide(parts: Parts, name: string, number: number): string {
  const slide = parts(name);
  if (slide === undefined) throw new Error(`its slide ${number}, ${name}, is missing`);
  const relations = readRelations(parts, name);
  const ofKind = (kind: string) =>
    relations.filter((relation) => relation.kind === kind).flatMap(({ target }) => parts(target) ?? []);
  const titles = readTitles(slide);
  const isHidden = ['0', 'false'].includes(slide.attributes.show ?? '');
  const lines = [
    `## Slide ${number}${titles === '' ? '' : `: ${titles}`}${isHidden ? ' (hidden)' : ''}`,
    ...listContent(slide),
  ];
  for (const diagram of ofKind('diagramData')) lines.push(`[diagram] ${listTexts(diagram, 't').join('; ')}`);
  for (const chart of ofKind('chart'))
    lines.push(`[chart] ${[...listTexts(chart, 't'), ...listTexts(chart, 'v')].join('; ')}`);
  const notes = ofKind('notesSlide').flatMap(listContent);
  if (notes.length > 0) lines.push('Notes:', ...notes);
  return lines.join('\n');
}

const TITLES = ['title', 'ctrTitle'];
/** Placeholders that belong to the layout and not to the slide. */
const LAYOUT_PLACES = ['sldNum', 'dt', 'ftr', 'hdr'];

function readTitles(slide: XmlElement): string {
  const shapes = findElements(slide, 'sp').filter((shape) => TITLES.includes(readPlaceholder(shape)));
  return shapes.flatMap(listParagraphs).join(' ');
}

function readPlaceholder(shape: XmlElement): string {
  return findElements(shape, 'ph')[0]?.attributes.type ?? '';
}

/** Lists texts, tables and pictures in their order. */
function listContent(element: XmlElement): string[] {
  switch (element.name) {
    case 'sp':
      return [...TITLES, ...LAYOUT_PLACES].includes(readPlaceholder(element)) ? [] : listParagraphs(element);
    case 'tbl': {
      const rows = element.children.filter(({ name }) => name === 'tr');
      const cells = rows.map((row) =>
        row.children.filter(({ name }) => name === 'tc').map((cell) => listParagraphs(cell).join('\n')),
      );
      return renderMarkdownTable(cells);
    }
    case 'pic': {
      const { name = '', descr = '' } = findElements(element, 'cNvPr')[0]?.attributes ?? {};
      return [`[picture: ${descr === '' ? name : descr}]`];
    }
    // A fallback repeats the content for programs that do not know the first form.
    case 'Fallback':
      return [];
    default:
      return element.children.flatMap(listContent);
  }
}

function listParagraphs(element: XmlElement): string[] {
  return findElements(element, 'p').flatMap((paragraph) => {
    const level = Number(paragraph.children.find(({ name }) => name === 'pPr')?.attributes.lvl ?? 0);
    const text = joinRuns(paragraph).trim();
    return text === '' ? [] : [`${'  '.repeat(Math.min(Math.max(level || 0, 0), 8))}${text}`];
  });
}

function joinRuns(element: XmlElement): string {
  if (element.name === 'br') return '\n';
  if (element.name === 't') return element.children.map(({ text }) => text).join('');
  return element.children.map(joinRuns).join('');
}

function listTexts(element: XmlElement, name: string): string[] {
  return findElements(element, name)
    .map((one) =>
      one.children
        .map(({ text }) => text)
        .join('')
        .trim(),
    )
    .filter((text) => text !== '');
}

/** An element of an XML document; its name has no prefix, its attributes do. Texts are elements named `#text`. */
interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  readonly text: string;
}

/**
 * Maximum depth of nesting, so that a hostile file cannot overflow the stack; slides nest groups in groups, but never
 * as deep.
 */
const MAX_DEPTH = 200;

const nodesSchema = z.array(z.record(z.string(), z.unknown()));
const attributesSchema = z.record(z.string(), z.string());

/**
 * Parses an XML document to its root element, with all children in order.
 *
 * @throws Error for other texts, and for XML with definitions of its own (DOCTYPE), which no program writes here
 */
function parseXml(xml: string): XmlElement {
  if (/<!doctype/i.test(xml)) throw new Error('it has a DOCTYPE');
  const parser = new XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: '',
    parseTagValue: false,
    parseAttributeValue: false,
    trimValues: false,
    maxNestedTags: MAX_DEPTH,
  });
  const nodes: unknown = parser.parse(xml, true);
  const root = readChildren(nodes, 0).find(({ name }) => !name.startsWith('?') && name !== '#text');
  if (root === undefined) throw new Error('it has no element');
  return root;
}

/** Lists all elements of that name in `element`, in order, itself included. */
function findElements(element: XmlElement, name: string): XmlElement[] {
  if (element.name === name) return [element];
  return element.children.flatMap((child) => findElements(child, name));
}

function readChildren(nodes: unknown, depth: number): XmlElement[] {
  if (depth > MAX_DEPTH) throw new Error(`its elements are nested deeper than ${MAX_DEPTH}`);
  return nodesSchema.parse(nodes).flatMap((node) => {
    const name = Object.keys(node).find((key) => key !== ':@');
    if (name === undefined) return [];
    const value = node[name];
    const attributes = attributesSchema.safeParse(node[':@'] ?? {}).data ?? {};
    if (name === '#text') return [{ name, attributes, children: [], text: String(value) }];
    return [
      {
        name: name.slice(name.indexOf(':') + 1),
        attributes,
        children: readChildren(value, depth + 1),
        text: '',
      },
    ];
  });
}
