import type { PacketHead } from '../../contracts/packet.ts';
import type { Link } from '../link.ts';

/** One packet on one route, as the relay offers it. */
export interface Offer {
  readonly from: string;
  readonly to: string;
  /** Position of the packet on its route, counted from 1; the fault plan decides by it. */
  readonly number: number;
  readonly bytes: number;
  readonly packet: PacketHead;
}

/** A delivery that is waiting to be made. */
export interface PendingFrame {
  readonly offer: Offer;
  readonly link: Link;
  readonly frame: Buffer;
  readonly copies: number;
  /** Due time in monotonic milliseconds. */
  readonly dueMs: number;
}

/** Waiting frames of one route: first in, first out, so that a sender's packets keep their order. */
export class PendingFrames {
  readonly #deliver: (frame: PendingFrame) => void;
  readonly #waiting: PendingFrame[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(deliver: (frame: PendingFrame) => void) {
    this.#deliver = deliver;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  add(frame: PendingFrame): void {
    this.#waiting.push(frame);
    if (this.#timer === undefined) this.#release();
  }

  /** Delivers the frames that are due, and sets a timer for the next one. */
  #release(): void {
    this.#stopTimer();
    for (;;) {
      const [first] = this.#waiting;
      if (first === undefined) return;
      const leftMs = first.dueMs - performance.now();
      if (leftMs > 0) {
        this.#timer = setTimeout(() => this.#release(), Math.ceil(leftMs));
        return;
      }
      this.#waiting.shift();
      this.#deliver(first);
    }
  }

  /** Removes and returns all waiting frames, to be delivered early. */
  takeAll(): PendingFrame[] {
    this.#stopTimer();
    return this.#waiting.splice(0);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
