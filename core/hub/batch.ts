import { copyHead, type PacketHead } from '../contracts/packet.ts';
import type { Slab } from '../wire/slab.ts';
import type { Link } from './link.ts';

/** A packet that may be relayed, and who gets it. */
export interface AuthorizedPacket {
  /** Valid as long as the bytes that it was read from: see {@link Batch}. */
  readonly head: PacketHead;
  /** The same list for the same agents; see {@link Router}. */
  readonly recipients: readonly Link[];
  /** Whole frame, the prefix included. */
  readonly frameBytes: number;
}

/** A packet alone, as a frame of its own that nobody writes over. */
export interface Message {
  /** Id of the agent that sent it, or the hub's. */
  readonly from: string;
  readonly head: PacketHead;
  readonly frame: Buffer;
}

/**
 * Packets that lie side by side in what one agent sent, and go to the same agents: what the relay hands to a delivery strategy, and
 * then to whoever observes. Until that is done it holds their bytes.
 */
export class Batch {
  readonly sender: Link;
  readonly recipients: readonly Link[];
  readonly #packets: AuthorizedPacket[] = [];
  /** The frames lie here, one behind the other. */
  readonly slab: Slab;
  readonly start: number;
  end: number;
  /** When the bytes came, in monotonic microseconds; see `core/system/clock.ts`. */
  readonly arrivedUs: number;
  /** When the first destination could be written to; 0 while it waits for the end of the turn. */
  forwardedUs = 0;

  constructor(sender: Link, recipients: readonly Link[], slab: Slab, start: number, arrivedUs: number) {
    this.sender = sender;
    this.recipients = recipients;
    this.slab = slab;
    this.start = start;
    this.end = start;
    this.arrivedUs = arrivedUs;
    slab.hold();
  }

  add(packet: AuthorizedPacket): void {
    this.#packets.push(packet);
    this.end += packet.frameBytes;
  }

  get size(): number {
    return this.#packets.length;
  }

  /** Each packet's head, as a value to keep, and the length of its frame. Made anew each time. */
  get packets(): Pick<AuthorizedPacket, 'head' | 'frameBytes'>[] {
    return this.#packets.map(({ head, frameBytes }) => ({ head: copyHead(head), frameBytes }));
  }

  /** The same quicker: a head is valid during the call. */
  each(visit: (head: PacketHead, frameBytes: number) => void): void {
    for (const { head, frameBytes } of this.#packets) visit(head, frameBytes);
  }

  /** Each packet alone, with a copy of its frame. */
  *messages(): Generator<Message> {
    let at = this.start;
    for (const { head, frameBytes } of this.packets) {
      const frame = Buffer.from(this.slab.bytes.subarray(at, at + frameBytes));
      yield { from: this.sender.node.id, head, frame };
      at += frameBytes;
    }
  }

  /** Lets go of the bytes. */
  release(): void {
    this.slab.release();
  }
}
