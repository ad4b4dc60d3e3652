import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { kindOf } from './file-kind.ts';
import { shown } from './find-file.ts';
import type { LoadedFile } from './load-file.ts';
import { noReaderMessage, readerFor } from './reading/readers.ts';
import { decodeText } from './text-encoding.ts';

/** @throws MeshError `tool` for what is no text, with the tool that reads it */
export function textReport(file: LoadedFile): string {
  const { text, encoding } = textOf(file);
  const lines = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
  return `${shown(file.name)}: text, ${encoding}, ${file.bytes.length} bytes, ${lines} lines\n\n${text}`;
}

/** @throws MeshError `tool` for what is no text, with the tool that reads it */
export function textOf({ name, bytes }: LoadedFile): { text: string; encoding: string } {
  const kind = kindOf(bytes);
  const decoded = kind === undefined ? decodeText(bytes) : undefined;
  if (decoded !== undefined) return decoded;
  const reader = readerFor(name);
  if (reader !== undefined && reader !== 'read_file') {
    throw new MeshError('tool', `${shown(name)} is no text file: ${reader} reads it`);
  }
  const what =
    kind === undefined ? 'holds bytes that are no text in any known encoding' : `is no text but ${kind.what}`;
  throw new MeshError(
    'tool',
    `${shown(name)} ${what}${kind?.reader === undefined ? `: ${noReaderMessage(name)}` : `: ${kind.reader} reads such files`}`,
  );
}
