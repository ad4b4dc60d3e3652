import { type CipherGCMTypes, type CipherKey, createCipheriv, createDecipheriv } from 'node:crypto';

export type Aead = 'chacha20-poly1305' | 'aes-256-gcm';

export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;

// Without this length GCM accepts a tag of 4 bytes as a whole one.
const options = { authTagLength: TAG_BYTES };

/**
 * Encrypts to nonce | ciphertext | tag. The key should be a `KeyObject`: raw bytes make every call several
 * times slower.
 */
export function sealBox(
  aead: Aead,
  key: CipherKey,
  nonce: Uint8Array,
  associated: Uint8Array,
  plain: Uint8Array,
): Buffer {
  const cipher = createCipheriv(toNodeCipher(aead), key, nonce, options);
  cipher.setAAD(associated, { plaintextLength: plain.length });
  const encrypted = cipher.update(plain);
  cipher.final();
  return Buffer.concat([nonce, encrypted, cipher.getAuthTag()]);
}

/**
 * Decrypts a box, which must hold at least a nonce and a tag.
 *
 * @throws Error if the tag does not fit
 */
export function openBox(aead: Aead, key: CipherKey, associated: Uint8Array, box: Uint8Array): Buffer {
  const encrypted = box.subarray(NONCE_BYTES, -TAG_BYTES);
  const decipher = createDecipheriv(toNodeCipher(aead), key, box.subarray(0, NONCE_BYTES), options);
  decipher.setAAD(associated, { plaintextLength: encrypted.length });
  decipher.setAuthTag(box.subarray(-TAG_BYTES));
  const plain = decipher.update(encrypted);
  decipher.final();
  return plain;
}

/**
 * Returns the cipher under a type that Node knows: its types have the calls above for GCM only, but they work
 * for both ciphers.
 */
function toNodeCipher(aead: Aead): CipherGCMTypes {
  return aead as CipherGCMTypes;
}
