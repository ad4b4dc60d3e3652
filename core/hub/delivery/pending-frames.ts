import type { PacketHead } from '../../contracts/packet.ts';
import type { Link } from '../link.ts';

/** One packet on one route, as the relay offers it. */
export interface Offer {
  readonly from: string;
  readonly to: string;
  /** The how many-th packet of this route it is, from 1: what the plan decides by. */
  readonly number: number;
  readonly bytes: number;
  readonly packet: PacketHead;
}

/** A delivery as it is to be made. */
export interface PendingFrame {
  readonly offer: Offer;
  readonly link: Link;
  readonly frame: Buffer;
  readonly copies: number;
  /** Monotonic milliseconds. */
  readonly dueMs: number;
}

/** The frames of one route that wait: first in, first out, so that the order of a sender's packets is kept. */
export class PendingFrames {
  readonly #deliver: (frame: PendingFrame) => void;
  readonly #isStopped: () => boolean;
  readonly #waiting: PendingFrame[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** `isStopped` says whether the destination is stalled: nothing becomes due then. */
  constructor(deliver: (frame: PendingFrame) => void, isStopped: () => boolean) {
    this.#deliver = deliver;
    this.#isStopped = isStopped;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  add(frame: PendingFrame): void {
    this.#waiting.push(frame);
    if (this.#timer === undefined) this.release();
  }

  /** Delivers what is due, and waits for the next. */
  release(): void {
    this.#stopTimer();
    while (!this.#isStopped()) {
      const [first] = this.#waiting;
      if (first === undefined) return;
      const leftMs = first.dueMs - performance.now();
      if (leftMs > 0) {
        this.#timer = setTimeout(() => this.release(), Math.ceil(leftMs));
        return;
      }
      this.#waiting.shift();
      this.#deliver(first);
    }
  }

  /** Hands out what waits, to be delivered before its time. */
  takeAll(): PendingFrame[] {
    this.#stopTimer();
    return this.#waiting.splice(0);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
