import { MeshError } from '../contracts/errors.ts';
import { KEPT_LIMITS } from '../contracts/limits.ts';

/** The end of an answer or a stream, which frees what was held for it. */
interface Sent {
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
}

const shortages = new WeakSet<object>();

/**
 * The budget of bytes that everything a server keeps for its clients shares: tasks, requests while they are
 * read, answers until they are sent, events for webhooks. A limit of counts bounds no memory.
 */
export class KeptBytes {
  readonly most: number;
  /** Maximum memory of one message, so that none takes the room of all. */
  readonly mostEach: number;
  #kept = 0;
  readonly #makeRoom: (() => boolean)[] = [];

  constructor(most: number) {
    this.most = most;
    this.mostEach = Math.floor(most * KEPT_LIMITS.messageShare);
  }

  /** Returns true for the error of a budget that has no room now, and may have some later. */
  static isShortage(error: unknown): boolean {
    return typeof error === 'object' && error !== null && shortages.has(error);
  }

  get kept(): number {
    return this.#kept;
  }

  /** @param makeRoom lets something go that is finished, the oldest first; it returns false if there is nothing */
  onShortage(makeRoom: () => boolean): void {
    this.#makeRoom.push(makeRoom);
  }

  /** @throws MeshError `limit` if there is no room for so much, even without what is finished */
  hold(bytes = 0): HeldBytes {
    const held = new HeldBytes(this);
    held.grow(bytes);
    return held;
  }

  /** Holds bytes until an answer has been sent or its client has gone. @throws MeshError `limit` */
  holdUntilSent(bytes: number, answer: Sent): void {
    if (answer.destroyed) return;
    const held = this.hold(bytes);
    answer.once('close', () => held.release());
  }

  /** Returns true if there is room, for which finished things may have gone. */
  take(bytes: number): boolean {
    while (this.#kept + bytes > this.most) if (!this.#makeRoom.some((make) => make())) return false;
    this.#kept += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#kept -= bytes;
  }
}

/** A part of the budget, for one thing that is kept. */
export class HeldBytes {
  readonly #budget: KeptBytes;
  #bytes = 0;

  constructor(budget: KeptBytes) {
    this.#budget = budget;
  }

  /** @throws MeshError `limit` if there is no room */
  grow(bytes: number): void {
    if (this.#budget.take(bytes)) {
      this.#bytes += bytes;
      return;
    }
    const error = new MeshError(
      'limit',
      `this server keeps at most ${this.#budget.most} bytes for its clients, and has no room for ${bytes} more: try again later`,
    );
    shortages.add(error);
    throw error;
  }

  release(): void {
    this.#budget.give(this.#bytes);
    this.#bytes = 0;
  }
}
