import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { AdapterSession, PeerIdentity } from '@gaia-mesh/core/contracts/adapter.ts';
import { toBuffer } from '../scan/scanner.ts';
import { type Aead, NONCE_BYTES, openBox, sealBox, TAG_BYTES } from './aead-box.ts';
import { deriveKey, KEY_BYTES } from './keys.ts';
import {
  createLayerError,
  type Layer,
  type LayerCodec,
  type LayerMembership,
  parseOfferedBytes,
  refuseOpen,
} from './layer.ts';
import { readSequence, Senders, SequenceNumbers, STAMP_BYTES, writeStamp } from './stamp.ts';

const SALT_BYTES = 16;

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

function join(name: Aead, { self, seed }: PeerIdentity): LayerMembership {
  const salt =
    seed === undefined ? randomBytes(SALT_BYTES) : deriveKey(seed, `${name} salt ${self}`, SALT_BYTES);
  // All connections of the member use one counter, since they share its key.
  const numbers = new SequenceNumbers();
  return {
    offer: salt.toString('hex'),
    open: (session) => openCodec(name, new Sender(name, self, salt), numbers, session),
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
  const senders = new Senders<Sender>(name);
  for (const [node, offer] of session.offers) {
    const sender = new Sender(name, node, parseOfferedBytes(name, node, offer, 'salt', SALT_BYTES));
    senders.add(sender.id, sender);
  }

  return {
    overheadBytes: NONCE_BYTES + TAG_BYTES,
    seal(bytes) {
      const nonce = Buffer.allocUnsafe(STAMP_BYTES);
      writeStamp(nonce, self.id, numbers.next());
      const { key, context } = self.keyed(session);
      return sealBox(name, key, nonce, context, bytes);
    },
    unseal(bytes) {
      if (bytes.length < NONCE_BYTES + TAG_BYTES) {
        throw createLayerError(name, `${bytes.length} bytes are too few for nonce and tag`);
      }
      const box = toBuffer(bytes);
      const sender = senders.of(box);
      const sequence = readSequence(name, box);
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
