import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** What a message costs beyond its own bytes: nonce and tag. */
export const SEAL_BYTES = NONCE_BYTES + TAG_BYTES;

/** Where a message stands: after which message of its subject (0: none), and which part of a line it is. */
interface Place {
  readonly after: number;
  readonly part: string;
}

/**
 * Encrypts and authenticates what an agent leaves on a server (AES-256-GCM, NIST SP 800-38D; a random nonce for each message, of which an
 * outbox has far fewer than 2^32). The key comes from the secret that agent and hub share, so that the agent's next process has it, too, on
 * whichever host. A message counts only in its place: one that was copied to another is none. Without a secret, anybody has the key.
 */
export class OutboxSeal {
  readonly #key: Uint8Array;

  constructor(secret: string, runId: string, node: string) {
    const info = JSON.stringify(['gaia-mesh outbox', runId, node]);
    this.#key = new Uint8Array(hkdfSync('sha256', secret, Buffer.alloc(0), info, KEY_BYTES));
  }

  seal(bytes: Uint8Array, place: Place): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce).setAAD(boundTo(place));
    const sealed = [cipher.update(bytes), cipher.final()];
    return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]);
  }

  /** Undefined for what was not sealed with this key for this place. */
  open(message: Uint8Array, place: Place): Buffer | undefined {
    if (message.length < SEAL_BYTES) return undefined;
    const decipher = createDecipheriv(CIPHER, this.#key, message.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(boundTo(place));
    decipher.setAuthTag(message.subarray(NONCE_BYTES, SEAL_BYTES));
    try {
      return Buffer.concat([decipher.update(message.subarray(SEAL_BYTES)), decipher.final()]);
    } catch {
      return undefined; // `final` throws where the tag is wrong, and for no other reason.
    }
  }
}

function boundTo({ after, part }: Place): Buffer {
  return Buffer.from(JSON.stringify([after, part]));
}
