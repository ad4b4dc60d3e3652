import { LARGE_FRAME_PATIENCE_MS, MAX_LARGE_FRAMES_BYTES } from '../contracts/limits.ts';

/** A connection that can wait in the middle of a frame. */
export interface Waiter {
  /** Bytes that have come of the frame. */
  readonly pendingBytes: number;
  /** Whether its owner lets nothing be read from it: it could not use a turn. */
  readonly isPaused: boolean;
  /** Reads nothing until it may go on. */
  wait(): void;
  goOn(): void;
}

interface Turn {
  readonly bytes: number;
  /** What had come of the frame at the last look. */
  seenBytes: number;
  isMoving: boolean;
}

/** The part of a frame that must come in {@link LARGE_FRAME_PATIENCE_MS}: so no frame, however long, keeps others waiting for a second. */
const MIN_PROGRESS = 1 / 8;

/**
 * Who may read a frame that needs memory of its own: first come, first served, as many as fit into the bound, and one of any size.
 *
 * Nobody waits for ever. A turn is for a whole frame, so whoever has one needs no other. A frame that does not come on does not count,
 * so an agent that stops in the middle of one is not waited for. While a full destination has all links paused none gets a turn, but the
 * destination drains all the same: nothing has to be read for that.
 */
class LargeFrames {
  readonly #maxBytes: number;
  readonly #turns = new Map<Waiter, Turn>();
  readonly #waiting = new Map<Waiter, number>();
  #judging: NodeJS.Timeout | undefined;

  constructor(maxBytes = MAX_LARGE_FRAMES_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Of all frames whose turn it is and that come on. */
  get bytes(): number {
    let sum = 0;
    for (const { bytes, isMoving } of this.#turns.values()) if (isMoving) sum += bytes;
    return sum;
  }

  /** Whether `waiter` may read its frame of `bytes` at once; if not, it waits. */
  begin(waiter: Waiter, bytes: number): boolean {
    this.#waiting.set(waiter, bytes);
    this.look();
    if (this.#turns.has(waiter)) return true;
    waiter.wait();
    return false;
  }

  /** The frame is complete, or will never be. */
  end(waiter: Waiter): void {
    if (this.#turns.delete(waiter) || this.#waiting.delete(waiter)) this.look();
  }

  /** Lets those go on who can. To be called when one is paused no more. */
  look(): void {
    for (const [waiter, bytes] of this.#waiting) {
      if (waiter.isPaused) continue;
      const others = this.bytes;
      if (others > 0 && others + bytes > this.#maxBytes) break;
      this.#waiting.delete(waiter);
      this.#turns.set(waiter, { bytes, seenBytes: -bytes, isMoving: true });
      waiter.goOn();
    }
    if (this.#waiting.size > 0) {
      this.#judging ??= setInterval(() => this.#judge(), LARGE_FRAME_PATIENCE_MS);
    } else {
      clearInterval(this.#judging);
      this.#judging = undefined;
    }
  }

  #judge(): void {
    for (const [{ pendingBytes }, turn] of this.#turns) {
      turn.isMoving = pendingBytes - turn.seenBytes >= turn.bytes * MIN_PROGRESS;
      turn.seenBytes = pendingBytes;
    }
    this.look();
  }
}

/** The process's own. */
export const largeFrames = new LargeFrames();
