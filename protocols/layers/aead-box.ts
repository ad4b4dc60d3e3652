import { type CipherGCMTypes, type CipherKey, createCipheriv, createDecipheriv } from 'node:crypto';

export type Aead = 'chacha20-poly1305' | 'aes-256-gcm';

export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;

// Without it GCM takes a tag of 4 bytes for a whole one.
const options = { authTagLength: TAG_BYTES };

/** nonce | ciphertext | tag. With a `KeyObject`, as raw bytes make every call several times slower. */
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
 * What was sealed. `box` has at least a nonce and a tag.
 *
 * @throws Error where the tag does not fit
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

/** Node's types know the calls above for GCM only; they are the same for both. */
function toNodeCipher(aead: Aead): CipherGCMTypes {
  return aead as CipherGCMTypes;
}
