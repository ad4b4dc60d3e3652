import path from 'node:path';
import { quoteFileName } from '../loaded-file.ts';

export type ReaderName =
  | 'read_file'
  | 'read_excel'
  | 'read_pdf'
  | 'read_docx'
  | 'read_pptx'
  | 'read_zip'
  | 'analyze_image'
  | 'understand_audio';

const PROSE = 'txt text md markdown rst log html htm xhtml tex srt vtt eml';
const DATA = 'json jsonl ndjson jsonld xml svg yaml yml toml ini cfg conf bib pdb cif fasta fa pgn fen ics';
const CODE =
  'py ipynb js mjs cjs ts tsx jsx css c h cc cpp hpp cs java kt go rs rb php pl lua r jl swift scala hs sql sh bash bat ps1 f90 m';

/** Readers by file extension (SV-14, C-26): the only such table of the project. */
const TABLE: readonly (readonly [ReaderName, string])[] = [
  ['read_file', `${PROSE} ${DATA} ${CODE}`],
  ['read_excel', 'xlsx xls csv tsv ods xlsm xlsb'],
  ['read_pdf', 'pdf'],
  ['read_docx', 'docx'],
  ['read_pptx', 'pptx'],
  ['read_zip', 'zip'],
  ['analyze_image', 'png jpg jpeg gif webp'],
  ['understand_audio', 'mp3 wav m4a flac ogg'],
];

const readers: ReadonlyMap<string, ReaderName> = new Map(
  TABLE.flatMap(([reader, extensions]) =>
    extensions.split(' ').map((extension) => [extension, reader] as const),
  ),
);

/**
 * Returns the name of the tool that reads `fileName`, by its extension without case; undefined for an unknown
 * extension.
 */
export function findReader(fileName: string): ReaderName | undefined {
  return readers.get(readExtension(fileName));
}

/** The content of a file by its extension, in everyday words. */
export type FileContent =
  | 'text'
  | 'table'
  | 'data'
  | 'program'
  | 'archive'
  | 'picture'
  | 'recording'
  | 'unknown';

export function describeContent(fileName: string): FileContent {
  const reader = findReader(fileName);
  switch (reader) {
    case 'read_file': {
      const extension = readExtension(fileName);
      if (PROSE.split(' ').includes(extension)) return 'text';
      return DATA.split(' ').includes(extension) ? 'data' : 'program';
    }
    case 'read_pdf':
    case 'read_docx':
    case 'read_pptx':
      return 'text';
    case 'read_excel':
      return 'table';
    case 'read_zip':
      return 'archive';
    case 'analyze_image':
      return 'picture';
    case 'understand_audio':
      return 'recording';
    case undefined:
      return 'unknown';
  }
}

/** Explains that no tool reads a file with this extension. */
export function explainNoReader(fileName: string): string {
  const extension = readExtension(fileName);
  const what = extension === '' ? 'has no extension' : `is a ${quoteFileName(`.${extension}`)} file`;
  const known = TABLE.map(
    ([reader, extensions]) => `${reader} (${extensions.split(' ').slice(0, 6).join(', ')})`,
  );
  return `no tool is known for ${quoteFileName(fileName)}, which ${what}; there are ${known.join(', ')}`;
}

/** Returns the extension in lower case, without its dot; empty when there is none. */
export function readExtension(fileName: string): string {
  return path.posix.extname(fileName).slice(1).toLowerCase();
}
