import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_DECODED_VALUES } from '@gaia-mesh/core/contracts/limits.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { readUserFile } from '@gaia-mesh/core/system/files/user-file.ts';
import { checkJsonValues } from '@gaia-mesh/core/system/parse-json.ts';
import { decodeText } from '@gaia-mesh/tools/files/text-encoding.ts';
import { parseLogJson, toObject } from './loose-values.ts';
import type { ImportNotes, SourceValue } from './message.ts';
import { splitJsonValues } from './split-json.ts';

/**
 * Maximum bytes of an unpacked file to import, since its text and its values are in memory together. Larger logs have to be split
 * by task.
 */
const MAX_SOURCE_BYTES = 64 * 1024 * 1024;

/** Maximum values of a file to import: a text of the largest size has some 15 characters a value. */
const MAX_SOURCE_VALUES = MAX_DECODED_VALUES;

/**
 * Reads the values of a file: one JSON value, the items of a list, one value after the other, or lines of text with a JSON
 * message in each. Lines that are not JSON are reported in `notes`, and the rest is kept.
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
  const whole = parseValue(text, 'the file', notes);
  if (Array.isArray(whole)) return whole.map((value, index) => ({ value, where: `item ${index + 1}` }));
  if (whole !== undefined) return [{ value: whole, where: 'the file' }];
  const values: SourceValue[] = [];
  for (const { text: own, line } of splitJsonValues(text)) {
    const where = `line ${line}`;
    const value = parseValue(own, where, notes) ?? parseTextLine(own, where, notes);
    if (value === undefined) notes.drop('lines that are not JSON', where);
    else values.push({ value, where });
  }
  if (values.length === 0)
    throw new MeshError('config', `${file}: expected JSON or JSON lines; no line of it is JSON`);
  return values;
}

/** Parses a text as one JSON value; undefined if it is not one. Notes the parts of the text that the value cannot hold. */
function parseValue(text: string, where: string, notes: ImportNotes): unknown {
  try {
    return parseLogJson(text, {
      key: (key) => notes.drop('keys that come twice, of which the last values count', `${where}: ${key}`),
      number: (digits) => notes.drop('whole numbers beyond 2^53, which are texts now', digits),
    });
  } catch {
    return undefined; // Lines, perhaps.
  }
}

/** Matches the time that begins a line of a log, in brackets or not. */
const LINE_TIME = /^\[?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)/;
const LEVELS = /^(?:trace|debug|info|notice|warn|warning|error|critical|fatal|log)$/i;

/**
 * Parses a line of a text log with a JSON message in it, such as Claude Desktop writes for MCP servers: `2026-11-20T10:00:00.000Z
 * [weather] [info] Message from client: {…} { metadata: undefined }`.
 */
function parseTextLine(line: string, where: string, notes: ImportNotes): JsonObject | undefined {
  const start = line.indexOf('{');
  if (start <= 0) return undefined;
  // Something else may follow the message.
  for (let end = line.lastIndexOf('}'), tries = 0; end > start && tries < MAX_TAILS; tries++) {
    const message = toObject(parseValue(line.slice(start, end + 1), where, notes));
    if (message !== undefined) return { ...readLinePrefix(line.slice(0, start)), message };
    end = line.lastIndexOf('}', end - 1);
  }
  return undefined;
}

/** Maximum ends of a message that are tried in a line. */
const MAX_TAILS = 4;

/** Reads time, direction and server from the text in front of a message. */
function readLinePrefix(prefix: string): JsonObject {
  const time = LINE_TIME.exec(prefix)?.[1];
  const [, direction] = /\b(?:from|to) (?:the )?(client|server)\b/i.exec(prefix) ?? [];
  const isRecipient = /\bto (?:the )?(?:client|server)\b/i.test(prefix);
  const names = [...prefix.matchAll(/\[([^\]]{1,80})\]/g)].map(([, name = '']) => name.trim());
  const server = names.find((name) => !LEVELS.test(name) && !LINE_TIME.test(name));
  const own: Record<string, string> = {};
  if (time !== undefined) own.timestamp = time.replace(',', '.');
  if (direction !== undefined) own.direction = `${isRecipient ? 'to' : 'from'} ${direction.toLowerCase()}`;
  if (server !== undefined) own.server = server;
  return own;
}

function readSourceText(file: string, notes: ImportNotes): string {
  const bytes = readSourceBytes(file);
  const decoded = decodeText(bytes);
  // Windows writes logs in UTF-16; anything else is JSON's own encoding.
  if (decoded?.encoding.startsWith('utf-16')) return decoded.text;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    notes.drop('files with bytes that are not UTF-8, replaced by U+FFFD');
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
