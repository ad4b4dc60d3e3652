import { copyHead, type PacketHead } from '../contracts/packet.ts';
import type { Slab } from '../wire/slab.ts';
import type { Link } from './link.ts';

/** A packet that may be relayed, and its recipients. */
export interface AuthorizedPacket {
  /** Valid as long as the bytes it was read from: see {@link Batch}. */
  readonly head: PacketHead;
  /** The recipients: the same agents are the same list object; see {@link Router}. */
  readonly recipients: readonly Link[];
  /** Size of the whole frame, including the prefix. */
  readonly frameBytes: number;
}

/** A single packet with its own copy of the frame, which nothing overwrites. */
export interface Message {
  /** Id of the agent that sent it, or the hub's id. */
  readonly from: string;
  readonly head: PacketHead;
  readonly frame: Buffer;
}

/**
 * Adjacent packets from one agent that go to the same agents. The relay passes a batch to a delivery strategy
 * and then to the observer; until both are done, the batch holds its bytes.
 */
export class Batch {
  readonly sender: Link;
  readonly recipients: readonly Link[];
  #packets: AuthorizedPacket[] = [];
  /** Buffer in which the frames lie one behind the other. */
  readonly slab: Slab;
  readonly start: number;
  end: number;
  /** Arrival time of the bytes in monotonic microseconds; see `core/system/clock.ts`. */
  readonly arrivedUs: number;
  /**
   * Time at which the first destination could be written to; 0 while the batch waits for the end of the turn.
   */
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
    // Most batches have one packet: the first push into an empty list would reserve room for 17.
    if (this.#packets.length === 0) this.#packets = [packet];
    else this.#packets.push(packet);
    this.end += packet.frameBytes;
  }

  get size(): number {
    return this.#packets.length;
  }

  /** Copies each packet's head and the length of its frame; every access makes a new list. */
  get packets(): Pick<AuthorizedPacket, 'head' | 'frameBytes'>[] {
    return this.#packets.map(({ head, frameBytes }) => ({ head: copyHead(head), frameBytes }));
  }

  /** Visits the packets without copying; a head is valid only during its call. */
  each(visit: (head: PacketHead, frameBytes: number) => void): void {
    for (const { head, frameBytes } of this.#packets) visit(head, frameBytes);
  }

  /** Yields each packet with a copy of its frame. */
  *messages(): Generator<Message> {
    let at = this.start;
    for (const { head, frameBytes } of this.packets) {
      const frame = Buffer.from(this.slab.bytes.subarray(at, at + frameBytes));
      yield { from: this.sender.node.id, head, frame };
      at += frameBytes;
    }
  }

  /** Releases the bytes. */
  release(): void {
    this.slab.release();
  }
}
