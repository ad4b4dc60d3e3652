import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from 'node:crypto';
import { messageOf } from '../../core/errors.ts';
import { notAPacket } from '../head.ts';

/** The two curves of ANP: one signs, the other agrees on secrets. No key does both (P5 §4.2). */
export type Curve = 'Ed25519' | 'X25519';

export const KEY_BYTES = 32;

/** What stands before the 32 secret bytes of a key in PKCS #8 (RFC 8410). */
const PKCS8_PREFIXES = {
  Ed25519: Buffer.from('302e020100300506032b657004220420', 'hex'),
  X25519: Buffer.from('302e020100300506032b656e04220420', 'hex'),
};

export function privateKeyOf(curve: Curve, secret: Uint8Array): KeyObject {
  return createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIXES[curve], secret]),
    format: 'der',
    type: 'pkcs8',
  });
}

export function publicKeyOf(curve: Curve, bytes: Buffer): KeyObject {
  return createPublicKey({
    key: { kty: 'OKP', crv: curve, x: bytes.toString('base64url') },
    format: 'jwk',
  });
}

/** The 32 public bytes of a key, private or public. */
export function publicBytesOf(key: KeyObject): Buffer {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return Buffer.from(String(publicKey.export({ format: 'jwk' }).x), 'base64url');
}

/**
 * X25519.
 *
 * @throws MeshError `packet` for a public key of small order, with which the secret would be no secret
 */
export function agree(privateKey: KeyObject, publicKey: KeyObject): Buffer {
  try {
    return diffieHellman({ privateKey, publicKey });
  } catch (error) {
    throw notAPacket(`no secret can be agreed on: ${messageOf(error)}`, error);
  }
}
