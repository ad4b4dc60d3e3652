import { MeshError } from '../contracts/errors.ts';
import { KEPT_LIMITS } from '../contracts/limits.ts';

/** An answer or a stream whose end frees the bytes that were held for it. */
interface Sent {
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
}

const shortages = new WeakSet<object>();

/**
 * A budget of bytes for all data that a server keeps for its clients: tasks, requests while they are read,
 * answers until they are sent, events for webhooks. A limit on their number alone would not bound the memory.
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

  /** Returns true for an error that says that a budget has no room at the moment. */
  static isShortage(error: unknown): boolean {
    return typeof error === 'object' && error !== null && shortages.has(error);
  }

  get kept(): number {
    return this.#kept;
  }

  /** @param makeRoom frees the oldest finished data; it returns false if there is none */
  onShortage(makeRoom: () => boolean): void {
    this.#makeRoom.push(makeRoom);
  }

  /** @throws MeshError `limit` if there is not enough room, even after finished data was freed */
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

  /** Takes bytes from the budget, and frees finished data for them if necessary. Returns false if there is no room. */
  take(bytes: number): boolean {
    while (this.#kept + bytes > this.most) if (!this.#makeRoom.some((make) => make())) return false;
    this.#kept += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#kept -= bytes;
  }
}

/** The part of the budget that one task, message or answer holds. */
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
