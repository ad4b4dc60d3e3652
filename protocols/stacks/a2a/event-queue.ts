import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';

/**
 * Maximum number of events that wait for one reader; a task of the mesh has four, a document streamed in
 * chunks some hundreds.
 */
const MAX_WAITING_EVENTS = 10_000;
/** Maximum memory of the events that wait for one reader, without the last of them. */
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * A queue from a producer that pushes to a consumer that iterates. A reader that falls too far behind gets an
 * error in place of the events it missed.
 */
export class EventQueue<T> implements AsyncIterable<T> {
  readonly #waiting: T[] = [];
  readonly #onEnd: (() => void) | undefined;
  #waitingBytes = 0;
  #wake: (() => void) | undefined;
  #isClosed = false;
  #failure: unknown;

  /** @param onEnd called when the reader has finished or stopped early */
  constructor(onEnd?: () => void) {
    this.#onEnd = onEnd;
  }

  /** @param bytes that the event takes, where memory is bounded */
  push(event: T, bytes = 0): void {
    if (this.#isClosed) return;
    if (this.#waiting.length === MAX_WAITING_EVENTS || this.#waitingBytes > MAX_WAITING_BYTES) {
      this.fail(new MeshError('limit', `a reader of events fell ${this.#waiting.length} events behind`));
      return;
    }
    this.#waitingBytes += bytes;
    this.#waiting.push(event);
    this.#wake?.();
  }

  close(): void {
    this.#isClosed = true;
    this.#wake?.();
  }

  fail(error: unknown): void {
    this.#failure ??= error;
    this.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    try {
      for (;;) {
        const events = this.#waiting.splice(0);
        this.#waitingBytes = 0;
        yield* events;
        // Events may have come while an empty list was passed on.
        if (events.length > 0 || this.#waiting.length > 0) continue;
        if (this.#failure !== undefined) throw this.#failure;
        if (this.#isClosed) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    } finally {
      this.#isClosed = true;
      this.#onEnd?.();
    }
  }
}
