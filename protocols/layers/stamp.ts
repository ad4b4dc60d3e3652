import type { AdapterSession } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { createLayerError } from './layer.ts';

/**
 * Bytes of the stamp in front of a signed or encrypted frame: sender and sequence number. For encryption it
 * is the nonce.
 *
 *     sender id (4)   first bytes of the member's offer in the handshake
 *     sequence (8)    big-endian
 */
export const STAMP_BYTES = 12;

/**
 * Numbers the frames of one member, over all its connections. The numbers start at the clock (1024 a
 * millisecond) rather than at 0, so that a member that comes back with the same key continues above the
 * numbers it has used.
 */
export class SequenceNumbers {
  #last: number;

  constructor(nowMs: number = Date.now()) {
    this.#last = nowMs * 1024;
  }

  /** Writes the stamp of the next frame to the beginning of `target`. */
  stamp(target: Buffer, senderId: number): void {
    this.#last += 1;
    target.writeUInt32BE(senderId, 0);
    target.writeUInt32BE(Math.floor(this.#last / 2 ** 32), 4);
    target.writeUInt32BE(this.#last % 2 ** 32, 8);
  }
}

/** The members of a run by the id in their frames: the first bytes of what each of them offered. */
export class Senders<Member> {
  readonly #layer: string;
  readonly #byId = new Map<number, Member>();

  /**
   * @param offered what every member offered, and its number of bytes, which are in hexadecimal
   * @throws MeshError `handshake` for any other offer, and if two members have the same id, as frames would be
   * ambiguous
   */
  constructor(
    layer: string,
    offers: AdapterSession['offers'],
    offered: { readonly what: string; readonly bytes: number },
    create: (node: string, offer: Buffer) => Member,
  ) {
    this.#layer = layer;
    for (const [node, offer] of offers) {
      const bytes = this.#parse(node, offer, offered);
      const senderId = bytes.readUInt32BE(0);
      if (this.#byId.has(senderId))
        throw new MeshError('handshake', `${layer}: two members offered keys with the same first bytes`);
      this.#byId.set(senderId, create(node, bytes));
    }
  }

  /** Reads the stamp of a frame. @throws MeshError `packet` for an unknown id, or a number that no sender writes */
  read(bytes: Buffer): { readonly member: Member; readonly sequence: number } {
    const member = this.#byId.get(bytes.readUInt32BE(0));
    if (member === undefined) throw createLayerError(this.#layer, 'its sender is not a member of this run');
    const high = bytes.readUInt32BE(4);
    // A larger number would not be exact.
    if (high >= 2 ** 21) throw createLayerError(this.#layer, 'its sequence number is beyond 2^53');
    return { member, sequence: high * 2 ** 32 + bytes.readUInt32BE(8) };
  }

  #parse(
    node: string,
    offer: JsonValue,
    { what, bytes }: { readonly what: string; readonly bytes: number },
  ): Buffer {
    if (typeof offer !== 'string' || offer.length !== 2 * bytes || /[^0-9a-f]/.test(offer))
      throw new MeshError('handshake', `${this.#layer}: ${node} offered no ${what} of ${bytes} bytes in hex`);
    return Buffer.from(offer, 'hex');
  }
}
