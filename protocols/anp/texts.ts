import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import canonicalize from 'canonicalize';
import { createPacketError } from '../scan/scanner.ts';

/**
 * The texts of values that ANP signs: bytes in three alphabets, and JSON. There is one text for each value, and the decoders take no
 * other, so that nobody can change a signed message's letters without changing what they mean.
 */

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** Longest text that is decoded: a signature has 88 letters. The time grows with the square of the length. */
const MAX_BASE58_LENGTH = 128;

/** Base58 with Bitcoin's alphabet, behind the `z` that says so (Multibase). */
export function encodeMultibase(bytes: Uint8Array): string {
  let value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  let text = '';
  for (; value > 0n; value /= 58n) text = BASE58.charAt(Number(value % 58n)) + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return `z${'1'.repeat(zeros === -1 ? bytes.length : zeros)}${text}`;
}

/** The bytes, `length` of them; undefined for any other text. */
export function decodeMultibase(text: string, length: number): Buffer | undefined {
  if (!text.startsWith('z') || text.length > MAX_BASE58_LENGTH) return undefined;
  let value = 0n;
  for (const letter of text.slice(1)) {
    const digit = BASE58.indexOf(letter);
    if (digit === -1) return undefined;
    value = value * 58n + BigInt(digit);
  }
  const hex = value.toString(16).padStart(length * 2, '0');
  const bytes = Buffer.from(hex, 'hex');
  return bytes.length === length && encodeMultibase(bytes) === text ? bytes : undefined;
}

/** The bytes of a text in base64 with padding, or in base64url without; undefined for any other text. */
export function decodeBase64(text: string, alphabet: 'base64' | 'base64url'): Buffer | undefined {
  const bytes = Buffer.from(text, alphabet);
  return bytes.toString(alphabet) === text ? bytes : undefined;
}

/** Letters of base64url without padding for so many bytes. */
export function countBase64urlLetters(bytes: number): number {
  return Math.ceil((bytes * 4) / 3);
}

/**
 * The one text of a JSON value that signatures and ciphers are made over (RFC 8785, JSON Canonicalization Scheme).
 *
 * @throws MeshError `packet` for what has no such text, such as a lone surrogate
 */
export function canonicalizeJson(value: unknown): string {
  let text: string | undefined;
  try {
    text = canonicalize(value);
  } catch (error) {
    throw createPacketError(toErrorMessage(error), error);
  }
  if (text === undefined) throw createPacketError('a value that JSON cannot hold');
  return text;
}
