import { createHmac, diffieHellman, hkdfSync, type KeyObject } from 'node:crypto';
import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { NONCE_BYTES, openBox, sealBox, TAG_BYTES } from '../layers/aead.ts';
import { exportPublicKey, importPublicKey, KEY_BYTES } from '../layers/keys.ts';
import { createPacketError } from '../scan/scanner.ts';
import { countBase64urlLetters, decodeBase64 } from './texts.ts';

/**
 * This module holds the key schedule of P5 (§8.4, §8.5, §10.2.1) in its suite
 * `ANP-DIRECT-E2EE-X3DH-25519-CHACHA20POLY1305-SHA256-V1`: X3DH-like at the beginning, double-ratchet-like
 * afterwards, all with HKDF-SHA256.
 */

const HASH_BYTES = 32;
const SESSION_ID_BYTES = 16;
const LABEL = 'ANP Direct E2EE v1 ';
const NO_SALT = Buffer.alloc(HASH_BYTES);

/** The keys that both sides share after the agreement. */
interface AgreedKeys {
  readonly rootKey: Buffer;
  /** First key of the chain whose message 0 is the `direct_init`. */
  readonly chainKey: Buffer;
  /** 16 bytes in base64url. */
  readonly sessionId: string;
}

/** Key and nonce of one message, and the chain key from which the next step is derived. */
interface ChainStep {
  readonly key: Buffer;
  readonly nonce: Buffer;
  readonly nextChainKey: Buffer;
}

/**
 * The recipient's keys for the agreement: static, signed prekey, one-time prekey. They are private on the
 * recipient's own side, else public.
 */
interface RecipientKeys {
  readonly staticKey: KeyObject;
  readonly signedPrekey: KeyObject;
  readonly oneTimePrekey?: KeyObject | undefined;
}

/** The sender's keys for the agreement. They are private on the sender's own side, else public. */
export interface SenderKeys {
  readonly staticKey: KeyObject;
  readonly ephemeral: KeyObject;
}

/** Agrees on keys; one side's keys are private, the other's public. */
function agreeX3dh(sender: SenderKeys, recipient: RecipientKeys): AgreedKeys {
  const { staticKey, signedPrekey, oneTimePrekey } = recipient;
  const secrets = [
    computeSharedSecret(sender.staticKey, signedPrekey),
    computeSharedSecret(sender.ephemeral, staticKey),
    computeSharedSecret(sender.ephemeral, signedPrekey),
    ...(oneTimePrekey === undefined ? [] : [computeSharedSecret(sender.ephemeral, oneTimePrekey)]),
  ];
  const secret = deriveHkdf(Buffer.concat(secrets), NO_SALT, 'Initial Secret', HASH_BYTES);
  return {
    rootKey: expand(secret, 'Root Key'),
    chainKey: expand(secret, 'Chain Key'),
    sessionId: expand(secret, 'Session ID').toString('base64url', 0, SESSION_ID_BYTES),
  };
}

function computeSharedSecret(one: KeyObject, other: KeyObject): Buffer {
  return one.type === 'private' ? agreeX25519(one, other) : agreeX25519(other, one);
}

/** Advances the root key: P5's `kdf_rk`. */
function advanceRootKey(rootKey: Buffer, secret: Buffer): { rootKey: Buffer; chainKey: Buffer } {
  const out = deriveHkdf(secret, rootKey, 'KDF_RK', 2 * HASH_BYTES);
  return { rootKey: out.subarray(0, HASH_BYTES), chainKey: out.subarray(HASH_BYTES) };
}

/** Advances the chain key: P5's `kdf_ck`. */
function advanceChainKey(chainKey: Buffer): ChainStep {
  const out = deriveHkdf(chainKey, NO_SALT, 'KDF_CK', 2 * HASH_BYTES + NONCE_BYTES);
  return {
    nextChainKey: out.subarray(0, HASH_BYTES),
    key: out.subarray(HASH_BYTES, 2 * HASH_BYTES),
    nonce: out.subarray(2 * HASH_BYTES),
  };
}

/** Returns ciphertext and tag. */
function seal({ key, nonce }: ChainStep, aad: string, plaintext: string): Buffer {
  const box = sealBox('chacha20-poly1305', key, nonce, Buffer.from(aad), Buffer.from(plaintext));
  return box.subarray(nonce.length);
}

/**
 * Decrypts ciphertext and tag. @throws MeshError `packet` if {@link seal} did not make them with the same key
 * and `aad`
 */
function unseal({ key, nonce }: ChainStep, aad: string, sealed: Buffer): Buffer {
  if (sealed.length < TAG_BYTES) throw createDecryptError('it is shorter than its tag');
  try {
    return openBox('chacha20-poly1305', key, Buffer.from(aad), Buffer.concat([nonce, sealed]));
  } catch (error) {
    throw createDecryptError('the tag does not match', error);
  }
}

/**
 * Agrees on a secret by X25519.
 *
 * @throws MeshError `packet` for a public key of small order, with which the secret would be public
 */
function agreeX25519(privateKey: KeyObject, publicKey: KeyObject): Buffer {
  try {
    return diffieHellman({ privateKey, publicKey });
  } catch (error) {
    throw createPacketError(`no secret can be agreed on: ${toErrorMessage(error)}`, error);
  }
}

function createDecryptError(reason: string, cause?: unknown) {
  return createPacketError(`anp.direct.e2ee.decrypt_failed (4009): ${reason}`, cause);
}

function deriveHkdf(input: Buffer, salt: Buffer, label: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', input, salt, LABEL + label, length));
}

/**
 * Returns the first block of HKDF-Expand (RFC 5869) for a key that was extracted already: Node's own HKDF
 * would extract again.
 */
function expand(key: Buffer, label: string): Buffer {
  return createHmac('sha256', key).update(`${LABEL}${label}\x01`).digest();
}

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
const MAX_SKIP = 1000;

/** The recipient's keys, including the one of its first reply. */
export interface DeviceKeys extends RecipientKeys {
  readonly ratchet: KeyObject;
}

/** Creates the clear parts of a message as long as those of message `n` of any session. */
export function createSizedParts(n: number) {
  const lettersOf = (bytes: number) => 'A'.repeat(countBase64urlLetters(bytes));
  const header: RatchetHeader = { dh_pub_b64u: lettersOf(KEY_BYTES), pn: PN, n: String(n) };
  return { sessionId: lettersOf(SESSION_ID_BYTES), header };
}

/** Returns the data that is authenticated beside a plaintext, for a message with this header. */
type AssociatedData = (header: RatchetHeader) => string;

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

  /** Encrypts the next message; the ciphertext is in base64url. */
  seal(plaintext: string, associate: AssociatedData) {
    const header: RatchetHeader = { dh_pub_b64u: this.#publicRatchet, pn: PN, n: String(this.n) };
    const step = advanceChainKey(this.#chainKey);
    const sealed = seal(step, associate(header), plaintext);
    this.#chainKey = step.nextChainKey;
    this.n += 1;
    return { header, ciphertext: sealed.toString('base64url') };
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
  open(header: RatchetHeader, aad: string, ciphertext: string, isAnotherLook: boolean): Buffer {
    const sealed = decodeBase64(ciphertext, 'base64url');
    if (sealed === undefined) throw createDecryptError('ciphertext_b64u is not base64url without padding');
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
