import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { detectFileKind } from './file-kind.ts';
import { type LoadedFile, quoteFileName } from './loaded-file.ts';
import { explainNoReader, findReader } from './reading/readers.ts';
import { decodeText } from './text-encoding.ts';

/**
 * Returns a file's text behind a line about the file.
 *
 * @throws MeshError `tool` for a file that is not text, with the tool that reads it
 */
export function reportText(file: LoadedFile): string {
  const { text, encoding } = decodeFileText(file);
  const lines = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
  return `${quoteFileName(file.name)}: text, ${encoding}, ${file.bytes.length} bytes, ${lines} lines\n\n${text}`;
}

/**
 * Decodes a file's text.
 *
 * @throws MeshError `tool` for a file that is not text, with the tool that reads it
 */
export function decodeFileText({ name, bytes }: LoadedFile): { text: string; encoding: string } {
  const kind = detectFileKind(bytes);
  const decoded = kind === undefined ? decodeText(bytes) : undefined;
  if (decoded !== undefined) return decoded;
  const reader = findReader(name);
  if (reader !== undefined && reader !== 'read_file') {
    throw new MeshError('tool', `${quoteFileName(name)} is not a text file: read it with ${reader}`);
  }
  const what =
    kind === undefined
      ? 'holds bytes that are not text in any known encoding'
      : `is not text but ${kind.what}`;
  throw new MeshError(
    'tool',
    `${quoteFileName(name)} ${what}${kind?.reader === undefined ? `: ${explainNoReader(name)}` : `: read it with ${kind.reader}`}`,
  );
}
