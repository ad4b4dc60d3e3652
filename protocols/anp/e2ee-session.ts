import type { KeyObject } from 'node:crypto';
import { exportPublicKey, importPublicKey, KEY_BYTES } from '../layers/keys.ts';
import { createPacketError } from '../scan/scanner.ts';
import {
  advanceChainKey,
  advanceRootKey,
  agreeX3dh,
  agreeX25519,
  type ChainStep,
  createDecryptError,
  type RecipientKeys,
  type SenderKeys,
  unseal,
} from './e2ee-keys.ts';
import { countBase64urlLetters, decodeBase64 } from './texts.ts';

/**
 * The header of one message in a session of P5 from one sender to one recipient, past its beginning.
 *
 * The session's `direct_init` and the recipient's first reply carry nothing here: the handshake has made
 * their public keys known. Both sides are therefore where P5 §9.4.9 leaves them, with the sender's first
 * message behind it (`pn` 1) and a new chain at `n` 0. The recipient never replies in the session, so the
 * chain is never replaced: each message has its own key, which later keys do not reveal.
 */
export interface RatchetHeader {
  readonly dh_pub_b64u: string;
  readonly pn: string;
  readonly n: string;
}

/** Number of messages of the previous chain, which held the init alone. */
const PN = '1';

/** Maximum number of missing messages before a message (P5 §11.3): each costs a derivation before anything is proven. */
export const MAX_SKIP = 1000;

/** The recipient's keys, including the one of its first reply. */
export interface DeviceKeys extends RecipientKeys {
  readonly ratchet: KeyObject;
}

/** Creates a header as long as that of message `n` of any session. */
export function createSizedHeader(n: number): RatchetHeader {
  return { dh_pub_b64u: 'A'.repeat(countBase64urlLetters(KEY_BYTES)), pn: PN, n: String(n) };
}

export class SendingSession {
  readonly id: string;
  /** Number of the next message. */
  n = 0;
  readonly #publicRatchet: string;
  #chainKey: Buffer;

  /** @param ratchet a private key of this session alone */
  constructor(sender: SenderKeys, recipient: DeviceKeys, ratchet: KeyObject) {
    const { sessionId, rootKey } = agreeX3dh(sender, recipient);
    const afterReply = advanceRootKey(rootKey, agreeX25519(sender.ephemeral, recipient.ratchet));
    this.id = sessionId;
    this.#publicRatchet = exportPublicKey(ratchet).toString('base64url');
    this.#chainKey = advanceRootKey(afterReply.rootKey, agreeX25519(ratchet, recipient.ratchet)).chainKey;
  }

  next(): { readonly header: RatchetHeader; readonly step: ChainStep } {
    const step = advanceChainKey(this.#chainKey);
    const header = { dh_pub_b64u: this.#publicRatchet, pn: PN, n: String(this.n) };
    this.#chainKey = step.nextChainKey;
    this.n += 1;
    return { header, step };
  }
}

export class ReceivingSession {
  readonly id: string;
  readonly #rootKey: Buffer;
  readonly #ratchet: KeyObject;
  /** The receiving chain, set once a message has proven it. */
  #chain: { readonly publicRatchet: string; key: Buffer; next: number; last: ChainStep } | undefined;

  constructor(sender: SenderKeys, recipient: DeviceKeys) {
    const { sessionId, rootKey } = agreeX3dh(sender, recipient);
    this.id = sessionId;
    this.#rootKey = advanceRootKey(rootKey, agreeX25519(recipient.ratchet, sender.ephemeral)).rootKey;
    this.#ratchet = recipient.ratchet;
  }

  /**
   * Decrypts a message. The session does not change unless that succeeds (P5 §10.2.3.4). It refuses a number
   * that came before, except for another look at the last one.
   *
   * @throws MeshError `packet`
   */
  open(header: RatchetHeader, aad: string, sealed: Buffer, isAnotherLook: boolean): Buffer {
    const n = Number(header.n);
    const chain = this.#chain ?? this.#chainOf(header);
    if (header.pn !== PN || header.dh_pub_b64u !== chain.publicRatchet) {
      throw createDecryptError('it is of another chain than this session has');
    }
    if (n < chain.next) {
      if (n === chain.next - 1 && isAnotherLook) return unseal(chain.last, aad, sealed);
      throw createPacketError(
        `anp.direct.e2ee.replay_detected (4008): message ${n} came before, or after ${chain.next - 1}`,
      );
    }
    if (n - chain.next > MAX_SKIP) {
      throw createPacketError(
        `anp.direct.e2ee.max_skip_exceeded (4010): message ${n} where ${chain.next} is next`,
      );
    }
    // Messages keep their order, so a skipped one will not come, and the session keeps no key for it.
    let step = advanceChainKey(chain.key);
    for (let at = chain.next; at < n; at++) step = advanceChainKey(step.nextChainKey);
    const plaintext = unseal(step, aad, sealed);
    this.#chain = { publicRatchet: chain.publicRatchet, key: step.nextChainKey, next: n + 1, last: step };
    return plaintext;
  }

  #chainOf({ dh_pub_b64u }: RatchetHeader) {
    const bytes = decodeBase64(dh_pub_b64u, 'base64url');
    if (bytes?.length !== KEY_BYTES) throw createDecryptError('dh_pub_b64u is not 32 bytes in base64url');
    const { chainKey } = advanceRootKey(
      this.#rootKey,
      agreeX25519(this.#ratchet, importPublicKey('X25519', bytes)),
    );
    return { publicRatchet: dh_pub_b64u, key: chainKey, next: 0, last: advanceChainKey(chainKey) };
  }
}
