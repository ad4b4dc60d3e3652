import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_DECODED_VALUES } from '@gaia-mesh/core/contracts/limits.ts';
import { readUserFile } from '@gaia-mesh/core/system/files/user-file.ts';
import { checkJsonValues, parseJsonText } from '@gaia-mesh/core/system/parse-json.ts';
import type { ImportNotes, SourceValue } from './message.ts';

/**
 * Maximum bytes of an unpacked file to import, since its text and its values are in memory together. Larger logs have to be split
 * by task.
 */
const MAX_SOURCE_BYTES = 64 * 1024 * 1024;

/** Maximum values of a file to import: a text of the largest size has some 15 characters a value. */
const MAX_SOURCE_VALUES = MAX_DECODED_VALUES;

/**
 * Reads the values of a file: one JSON value, the items of a list, or one value per line. Lines that are not JSON are reported in
 * `notes`, and the rest is kept.
 *
 * @throws MeshError `config` for a file that is missing, too large or without any JSON
 */
export function readSource(file: string, notes: ImportNotes): SourceValue[] {
  const text = readSourceText(file, notes);
  try {
    checkJsonValues(text, MAX_SOURCE_VALUES);
  } catch (error) {
    throw new MeshError('config', `${file}: ${toErrorMessage(error)}: split it into several files`, {
      cause: error,
    });
  }
  const whole = parseWholeValue(text);
  if (Array.isArray(whole)) return whole.map((value, index) => ({ value, where: `item ${index + 1}` }));
  if (whole !== undefined) return [{ value: whole, where: 'the file' }];
  const values: SourceValue[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const where = `line ${index + 1}`;
    try {
      values.push({ value: parseJsonText(line), where });
    } catch {
      notes.malformed('not JSON', where);
    }
  }
  if (values.length === 0)
    throw new MeshError('config', `${file}: expected JSON or JSON lines; no line of it is JSON`);
  return values;
}

/** Parses the text as one JSON value; undefined if it is not. */
function parseWholeValue(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return undefined; // Lines, perhaps.
  }
}

function readSourceText(file: string, notes: ImportNotes): string {
  const bytes = readSourceBytes(file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    notes.drop(
      'bytes that are not UTF-8: replaced by U+FFFD',
      'bytes that are not UTF-8: replaced by U+FFFD',
    );
    return new TextDecoder().decode(bytes);
  }
}

function readSourceBytes(file: string): Buffer {
  try {
    return readUserFile(file, { what: 'log', maxBytes: MAX_SOURCE_BYTES, unpacks: true });
  } catch (error) {
    if (!/larger than/.test(toErrorMessage(error))) throw error;
    throw new MeshError(
      'config',
      `${toErrorMessage(error)}; a file to import has at most ${MAX_SOURCE_BYTES} bytes: split it into several files with whole conversations`,
      { cause: error },
    );
  }
}
