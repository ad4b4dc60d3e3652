import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';

/**
 * Maximum number of events that wait for one reader; a task of the mesh has four, a document streamed in
 * chunks some hundreds.
 */
const MAX_WAITING_EVENTS = 10_000;

/**
 * A queue from a producer that pushes to a consumer that iterates. A reader that falls too far behind gets an
 * error in place of the events it missed.
 */
export class EventQueue<T> implements AsyncIterable<T> {
  readonly #waiting: T[] = [];
  #wake: (() => void) | undefined;
  #isClosed = false;
  #failure: unknown;

  push(event: T): void {
    if (this.#isClosed) return;
    if (this.#waiting.length === MAX_WAITING_EVENTS) {
      this.fail(new MeshError('limit', `a reader of events fell ${MAX_WAITING_EVENTS} events behind`));
      return;
    }
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
    for (;;) {
      const events = this.#waiting.splice(0);
      yield* events;
      if (events.length > 0) continue;
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isClosed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}
