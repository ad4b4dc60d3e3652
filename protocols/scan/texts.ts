import { isAscii } from 'node:buffer';
import { createPacketError } from './scanner.ts';

// A byte order mark is a letter like any other.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Maximum bytes for which a loop is faster than a call into the system. */
const SHORT = 24;

/**
 * Decodes the text of `bytes[start .. end)`.
 *
 * @throws MeshError `packet` for bytes that are not UTF-8
 */
export function decodeUtf8(bytes: Buffer, start: number, end: number): string {
  if (end - start <= SHORT ? isPlain(bytes, start, end) : isAscii(bytes.subarray(start, end)))
    return bytes.toString('latin1', start, end);
  try {
    return utf8.decode(bytes.subarray(start, end));
  } catch (error) {
    throw createPacketError('a text that is not UTF-8', error);
  }
}

/**
 * Maximum length of a cached text: types, ids, task ids and keys come again in every packet, longer texts are
 * not worth keeping.
 */
const MAX_KEPT_LENGTH = 64;
const keptTexts: string[] = new Array(1024).fill('');

/**
 * Decodes a text that will come again. A recently read one comes from the cache, as decoding it anew would
 * cost more than the rest of a peek.
 */
export function decodeCachedText(bytes: Buffer, start: number, end: number): string {
  const length = end - start;
  if (length === 0 || length > MAX_KEPT_LENGTH) return decodeUtf8(bytes, start, end);
  const ends = (bytes[start] ?? 0) * 7 + (bytes[end - 1] ?? 0) * 131;
  const slot = (length * 31 + ends + (bytes[start + (length >> 1)] ?? 0) * 17) & 1023;
  const kept = keptTexts[slot] ?? '';
  if (kept.length === length && isSame(kept, bytes, start)) return kept;
  const text = decodeUtf8(bytes, start, end);
  if (text.length === length) keptTexts[slot] = text;
  return text;
}

function isPlain(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if ((bytes[i] ?? 0) > 0x7f) return false;
  return true;
}

/** Returns true if the bytes are the letters of `text`: cached texts are ASCII. */
function isSame(text: string, bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}
