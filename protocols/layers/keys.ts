import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto';

/** Curve of a key: one curve signs, the other agrees on secrets, and no key does both. */
type Curve = 'Ed25519' | 'X25519';

export const KEY_BYTES = 32;

/** Hexadecimal prefixes of the 32 secret bytes of a key in PKCS #8, and of the 32 public ones in SPKI (RFC 8410). */
const PREFIXES = {
  Ed25519: { secret: '302e020100300506032b657004220420', public: '302a300506032b6570032100' },
  X25519: { secret: '302e020100300506032b656e04220420', public: '302a300506032b656e032100' },
};

/** @param secret the 32 bytes that RFC 7748 and RFC 8032 call the private key */
export function importPrivateKey(curve: Curve, secret: Uint8Array): KeyObject {
  const key = Buffer.concat([Buffer.from(PREFIXES[curve].secret, 'hex'), secret]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}

export function importPublicKey(curve: Curve, bytes: Uint8Array): KeyObject {
  const key = Buffer.concat([Buffer.from(PREFIXES[curve].public, 'hex'), bytes]);
  return createPublicKey({ key, format: 'der', type: 'spki' });
}

/** Returns the 32 public bytes of a key, private or public. */
export function exportPublicKey(key: KeyObject): Buffer {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return publicKey.export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES);
}

/** Derives a key from a secret by HKDF-SHA256, for one purpose within this project. */
export function deriveKey(
  secret: Uint8Array,
  purpose: string,
  length = KEY_BYTES,
  salt: Uint8Array = Buffer.alloc(0),
): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, `gaia-mesh ${purpose}`, length));
}
