import { createHmac, diffieHellman, hkdfSync, type KeyObject } from 'node:crypto';
import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { NONCE_BYTES, openBox, sealBox, TAG_BYTES } from '../layers/aead-box.ts';
import { createPacketError } from '../scan/scanner.ts';

/**
 * This module holds the key schedule of P5 (§8.4, §8.5, §10.2.1) in its suite
 * `ANP-DIRECT-E2EE-X3DH-25519-CHACHA20POLY1305-SHA256-V1`: X3DH-like at the beginning, double-ratchet-like
 * afterwards, all with HKDF-SHA256.
 */

const HASH_BYTES = 32;
export const SESSION_ID_BYTES = 16;
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
export interface ChainStep {
  readonly key: Buffer;
  readonly nonce: Buffer;
  readonly nextChainKey: Buffer;
}

/**
 * The recipient's keys for the agreement: static, signed prekey, one-time prekey. They are private on the
 * recipient's own side, else public.
 */
export interface RecipientKeys {
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
export function agreeX3dh(sender: SenderKeys, recipient: RecipientKeys): AgreedKeys {
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
export function advanceRootKey(rootKey: Buffer, secret: Buffer): { rootKey: Buffer; chainKey: Buffer } {
  const out = deriveHkdf(secret, rootKey, 'KDF_RK', 2 * HASH_BYTES);
  return { rootKey: out.subarray(0, HASH_BYTES), chainKey: out.subarray(HASH_BYTES) };
}

/** Advances the chain key: P5's `kdf_ck`. */
export function advanceChainKey(chainKey: Buffer): ChainStep {
  const out = deriveHkdf(chainKey, NO_SALT, 'KDF_CK', 2 * HASH_BYTES + NONCE_BYTES);
  return {
    nextChainKey: out.subarray(0, HASH_BYTES),
    key: out.subarray(HASH_BYTES, 2 * HASH_BYTES),
    nonce: out.subarray(2 * HASH_BYTES),
  };
}

/** Returns ciphertext and tag. */
export function seal({ key, nonce }: ChainStep, aad: string, plaintext: string): Buffer {
  const box = sealBox('chacha20-poly1305', key, nonce, Buffer.from(aad), Buffer.from(plaintext));
  return box.subarray(nonce.length);
}

/**
 * Decrypts ciphertext and tag. @throws MeshError `packet` if {@link seal} did not make them with the same key
 * and `aad`
 */
export function unseal({ key, nonce }: ChainStep, aad: string, sealed: Buffer): Buffer {
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
export function agreeX25519(privateKey: KeyObject, publicKey: KeyObject): Buffer {
  try {
    return diffieHellman({ privateKey, publicKey });
  } catch (error) {
    throw createPacketError(`no secret can be agreed on: ${toErrorMessage(error)}`, error);
  }
}

export function createDecryptError(reason: string, cause?: unknown) {
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
