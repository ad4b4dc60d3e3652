import {
  type CipherGCMTypes,
  type CipherKey,
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import type { AdapterSession, PeerIdentity } from '@gaia-mesh/core/contracts/adapter.ts';
import { toBuffer } from '../scan/scanner.ts';
import { deriveKey, KEY_BYTES } from './keys.ts';
import { createLayerError, type Layer, type LayerCodec, refuseOpen } from './layer.ts';
import { Senders, SequenceNumbers, STAMP_BYTES } from './stamp.ts';

type Aead = 'chacha20-poly1305' | 'aes-256-gcm';

const SALT_BYTES = 16;
export const NONCE_BYTES = STAMP_BYTES;
export const TAG_BYTES = 16;

/**
 * Creates a layer of authenticated encryption (RFC 8439, NIST SP 800-38D):
 *
 *     nonce (12) = sender id (4), sequence (8)  |  ciphertext  |  tag (16)
 *
 * Every member, the hub included, can read what any member wrote, because the hub forwards frames as they
 * came. Each member encrypts with its own key, HKDF-SHA256(run key, salt that it offered, layer, run, node),
 * so no two of them can use a nonce twice. The layer proves membership, not authorship: everyone who knows
 * the run's secret can derive all keys; the signing layer proves authorship. Without a secret the run key is
 * all zero and the salts are public: the layer then has its full cost and protects nothing.
 */
export function createAeadLayer(name: Aead): Layer {
  return {
    name,
    open: refuseOpen(name),
    join: (member) => join(name, member),
  };
}

function join(name: Aead, { self, seed }: PeerIdentity) {
  const salt =
    seed === undefined ? randomBytes(SALT_BYTES) : deriveKey(seed, `${name} salt ${self}`, SALT_BYTES);
  // All connections of the member use one counter, since they share its key.
  const numbers = new SequenceNumbers();
  return {
    offer: salt.toString('hex'),
    open: (session: AdapterSession) => openCodec(name, new Sender(name, self, salt), numbers, session),
  };
}

/** A member as its frames identify it. */
class Sender {
  readonly node: string;
  readonly salt: Buffer;
  readonly #name: Aead;
  #keyed: { readonly key: KeyObject; readonly context: Buffer } | undefined;

  constructor(name: Aead, node: string, salt: Buffer) {
    this.#name = name;
    this.node = node;
    this.salt = salt;
  }

  get id(): number {
    return this.salt.readUInt32BE(0);
  }

  /**
   * Returns the member's key, derived on first use: the hub has a session for every link, and each link
   * receives from one sender.
   */
  keyed({ runId, runKey }: AdapterSession): { readonly key: KeyObject; readonly context: Buffer } {
    if (this.#keyed === undefined) {
      const context = `${this.#name} ${JSON.stringify([runId, this.node])}`;
      const key = createSecretKey(deriveKey(runKey, context, KEY_BYTES, this.salt));
      this.#keyed = { key, context: Buffer.from(context) };
    }
    return this.#keyed;
  }
}

function openCodec(name: Aead, self: Sender, numbers: SequenceNumbers, session: AdapterSession): LayerCodec {
  const senders = new Senders(
    name,
    session.offers,
    { what: 'salt', bytes: SALT_BYTES },
    (node, salt) => new Sender(name, node, salt),
  );

  return {
    overheadBytes: NONCE_BYTES + TAG_BYTES,
    seal(bytes) {
      const nonce = Buffer.allocUnsafe(STAMP_BYTES);
      numbers.stamp(nonce, self.id);
      const { key, context } = self.keyed(session);
      return sealBox(name, key, nonce, context, bytes);
    },
    unseal(bytes) {
      if (bytes.length < NONCE_BYTES + TAG_BYTES) {
        throw createLayerError(name, `${bytes.length} bytes are too few for nonce and tag`);
      }
      const box = toBuffer(bytes);
      const { member: sender, sequence } = senders.read(box);
      const { key, context } = sender.keyed(session);
      try {
        const plain = openBox(name, key, context, box);
        return { bytes: plain, stamp: { sender: sender.node, sequence, isVerified: true } };
      } catch (error) {
        throw createLayerError(name, `not what ${sender.node} encrypted with the key of this run`, error);
      }
    },
  };
}

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
