import { describeContent } from '@gaia-mesh/tools/files/reading/readers.ts';

/** Of a text, as much as shows what it is about: it is sent again with each turn of a conversation. */
const MAX_BEGINNING_CHARACTERS = 240;
/** Headings that are named; a document may have hundreds. */
const MAX_PARTS = 12;
const MAX_PART_CHARACTERS = 120;

interface OutlinedFile {
  readonly name: string;
  readonly bytes: number;
  /** Empty for a picture, a recording, and whatever could not be read. */
  readonly text: string;
  /** Whether who gets the outline gets the text as well: then it need not be shown. */
  readonly hasText: boolean;
}

/** What a file is, for who decides what to do with it before it is read: kind, size, its parts, and how it begins. */
export function outlineFile({ name, bytes, text, hasText }: OutlinedFile): string {
  const content = describeContent(name);
  const kind = content === 'unknown' ? 'a file of a kind that no tool is known for' : content;
  const facts = [`${kind}, ${bytes} bytes`];
  const pages = text.match(/^--- page \d+ ---$/gm)?.length ?? 0;
  if (pages > 0) facts.push(`${pages} ${pages === 1 ? 'page' : 'pages'}`);
  const parts = (text.match(/^#{1,2} .+$/gm) ?? []).map((line) => line.replace(/^#+ /, ''));
  const named = parts.slice(0, MAX_PARTS).map((part) => part.slice(0, MAX_PART_CHARACTERS));
  if (parts.length > MAX_PARTS) named.push(`and ${parts.length - MAX_PARTS} more`);
  if (parts.length > 0) facts.push(`parts: ${named.join('; ')}`);
  const beginning = text.slice(0, MAX_BEGINNING_CHARACTERS).toWellFormed().trim();
  if (hasText || beginning === '') return facts.join(', ');
  const isWhole = text.length <= MAX_BEGINNING_CHARACTERS;
  return `${facts.join(', ')}; ${isWhole ? 'it says' : 'it begins'}:\n${beginning}${isWhole ? '' : ' …'}\n`;
}
