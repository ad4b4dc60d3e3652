import type { PacketHead } from '../../packet.ts';
import type { Link } from '../link.ts';

/** One packet on one way, as the relay offers it. */
export interface Offer {
  readonly from: string;
  readonly to: string;
  /** The how many-th packet of this way it is, from 1: what the plan decides by. */
  readonly number: number;
  readonly bytes: number;
  readonly packet: PacketHead | undefined;
}

/** A delivery as it is to be made. */
export interface Delivery {
  readonly offer: Offer;
  readonly link: Link;
  readonly frame: Buffer;
  readonly copies: number;
  /** Monotonic milliseconds. */
  readonly dueMs: number;
}

/** The deliveries of one way that wait: first in, first out, so that the order of a sender's packets is kept. */
export class DeliveryLine {
  readonly #deliver: (delivery: Delivery) => void;
  readonly #isStopped: () => boolean;
  readonly #waiting: Delivery[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** `isStopped` says whether the destination is stalled: nothing becomes due then. */
  constructor(deliver: (delivery: Delivery) => void, isStopped: () => boolean) {
    this.#deliver = deliver;
    this.#isStopped = isStopped;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  add(delivery: Delivery): void {
    this.#waiting.push(delivery);
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
  takeAll(): Delivery[] {
    this.#stopTimer();
    return this.#waiting.splice(0);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
