import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import canonicalize from 'canonicalize';
import { createPacketError } from '../scan/scanner.ts';

/**
 * This module encodes the values that ANP signs as text: bytes in three alphabets, and JSON. There is one
 * text for each value, and the decoders accept no other, so that an attacker cannot change a signed message's
 * letters without changing its meaning.
 */

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** Maximum length of a text that is decoded: a signature has 88 letters. The time grows with the square of the length. */
const MAX_BASE58_LENGTH = 128;

/** Encodes bytes as Base58 with Bitcoin's alphabet, behind the prefix `z` that Multibase has for it. */
export function encodeMultibase(bytes: Uint8Array): string {
  let value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  let text = '';
  for (; value > 0n; value /= 58n) text = BASE58.charAt(Number(value % 58n)) + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return `z${'1'.repeat(zeros === -1 ? bytes.length : zeros)}${text}`;
}

/** Decodes a text to exactly `length` bytes; returns undefined for any other text. */
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

/** Decodes base64 with padding or base64url without; returns undefined for any other text. */
export function decodeBase64(text: string, alphabet: 'base64' | 'base64url'): Buffer | undefined {
  const bytes = Buffer.from(text, alphabet);
  return bytes.toString(alphabet) === text ? bytes : undefined;
}

/** Returns the number of base64url letters, without padding, that encode `bytes` bytes. */
export function countBase64urlLetters(bytes: number): number {
  return Math.ceil((bytes * 4) / 3);
}

/**
 * Returns the canonical text of a JSON value, over which signatures and ciphers are made (RFC 8785, JSON
 * Canonicalization Scheme).
 *
 * @throws MeshError `packet` for a value without such a text, such as a lone surrogate
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
