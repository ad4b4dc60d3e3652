import { randomInt } from 'node:crypto';
import { notAPacket } from '../head.ts';
import { SequenceNumbers, STAMP_BYTES, writeStamp } from '../layers/stamp.ts';
import { bytesOfBase64 } from './base-texts.ts';

/**
 * Nonces of 12 bytes: 4 at random, 8 that count up. ANP asks that a nonce never comes again; that they count up spares receivers
 * a list of all that came, since the mesh keeps a sender's order.
 */
export function countingNonces(): () => string {
  const numbers = new SequenceNumbers();
  const prefix = randomInt(2 ** 32);
  return () => {
    const nonce = Buffer.alloc(STAMP_BYTES);
    writeStamp(nonce, prefix, numbers.next());
    return nonce.toString('base64url');
  };
}

/** What counts up in a nonce. @throws MeshError `packet` for one that is not 12 bytes in base64url */
export function sequenceOf(nonce: string): number {
  const bytes = bytesOfBase64(nonce, 'base64url');
  if (bytes?.length !== STAMP_BYTES) throw notAPacket('the nonce is not 12 bytes in base64url');
  // Above 2^53 neighbours look alike and the later one is refused; a mesh that counts from the clock never gets there.
  return Number(bytes.readBigUInt64BE(4));
}
