import { MeshError } from '../contracts/errors.ts';
import { LARGE_FRAME_LIMITS, LINK_LIMITS } from '../contracts/limits.ts';

/** A connection that can wait in the middle of a frame. */
export interface Waiter {
  /** Bytes of the frame that have come. */
  readonly pendingBytes: number;
  /** True if its owner has paused it: it could not use a turn. */
  readonly isPaused: boolean;
  /** Stops reading until {@link goOn} is called. */
  wait(): void;
  goOn(): void;
  /** Closes it at once. */
  destroy(fault: MeshError): void;
}

interface Turn {
  readonly bytes: number;
  /** Bytes of the frame that had come at the last check. */
  seenBytes: number;
  isMoving: boolean;
  /** Consecutive checks without progress, although bytes could have come. */
  looksInVain: number;
}

/**
 * Fraction of a frame that must come within {@link LARGE_FRAME_LIMITS.patienceMs}, so that no frame, however long,
 * keeps others waiting for a second.
 */
const MIN_PROGRESS = 1 / 8;

/**
 * Maximum checks without progress. Checks are counted instead of time, because a hub that was itself
 * suspended has not checked.
 */
const MAX_LOOKS_IN_VAIN = LINK_LIMITS.stallMs / LARGE_FRAME_LIMITS.patienceMs;

/**
 * Schedules frames that need their own memory: first come, first served, as many as fit into the bound, and
 * one of any size.
 *
 * No connection waits for ever. A turn covers a whole frame, so its holder needs no other turn. A frame that
 * makes no progress does not count, so an agent that stops in the middle of one delays no one. Its memory is
 * still in use, though: all frames that have begun fit into a second bound, and a connection that keeps
 * others from beginning for {@link LINK_LIMITS.stallMs} without a byte is cut off. While a full destination has
 * paused all links, no link gets a turn, but the destination drains all the same, because that requires no
 * reading.
 */
class LargeFrames {
  readonly #turns = new Map<Waiter, Turn>();
  readonly #waiting = new Map<Waiter, number>();
  #judging: NodeJS.Timeout | undefined;

  /** Bytes of all frames with a turn that make progress. */
  get bytes(): number {
    let sum = 0;
    for (const { bytes, isMoving } of this.#turns.values()) if (isMoving) sum += bytes;
    return sum;
  }

  /** Bytes of all frames with a turn, whether they make progress or not: the memory that they may take. */
  get begunBytes(): number {
    let sum = 0;
    for (const { bytes } of this.#turns.values()) sum += bytes;
    return sum;
  }

  /** Returns true if `waiter` may read its frame of `bytes` at once; otherwise it waits. */
  begin(waiter: Waiter, bytes: number): boolean {
    this.#waiting.set(waiter, bytes);
    this.look();
    if (this.#turns.has(waiter)) return true;
    waiter.wait();
    return false;
  }

  /** Handles a frame that is complete or will never be. */
  end(waiter: Waiter): void {
    const hadTurn = this.#turns.delete(waiter);
    const waited = this.#waiting.delete(waiter);
    // The bytes read before waiting may already be the whole frame.
    if (waited) waiter.goOn();
    if (hadTurn || waited) this.look();
  }

  /** Lets waiting connections continue if there is room. Call it when one is no longer paused. */
  look(): void {
    for (const [waiter, bytes] of this.#waiting) {
      if (waiter.isPaused) continue;
      const others = this.bytes;
      if (others > 0 && others + bytes > LARGE_FRAME_LIMITS.readBytes) break;
      if (this.#turns.size > 0 && this.begunBytes + bytes > LARGE_FRAME_LIMITS.begunBytes) break;
      this.#waiting.delete(waiter);
      this.#turns.set(waiter, { bytes, seenBytes: -bytes, isMoving: true, looksInVain: 0 });
      waiter.goOn();
    }
    if (this.#waiting.size > 0) {
      this.#judging ??= setInterval(() => this.#judge(), LARGE_FRAME_LIMITS.patienceMs);
    } else {
      clearInterval(this.#judging);
      this.#judging = undefined;
    }
  }

  #judge(): void {
    for (const [waiter, turn] of this.#turns) {
      const { pendingBytes } = waiter;
      turn.isMoving = pendingBytes - turn.seenBytes >= turn.bytes * MIN_PROGRESS;
      turn.looksInVain = waiter.isPaused || pendingBytes > turn.seenBytes ? 0 : turn.looksInVain + 1;
      turn.seenBytes = pendingBytes;
    }
    // Cut off one per check: its memory may suffice.
    const [gone] = [...this.#turns].filter(([, turn]) => turn.looksInVain > MAX_LOOKS_IN_VAIN);
    if (gone !== undefined) gone[0].destroy(createStallError(gone[1]));
    this.look();
  }
}

function createStallError({ bytes, seenBytes }: Turn): MeshError {
  const seconds = LINK_LIMITS.stallMs / 1000;
  const came = `${seenBytes} of ${bytes} bytes of a frame came, then nothing for ${seconds} s`;
  return new MeshError('frame', `${came}, while others waited for the memory that it holds`);
}

/** Scheduler of this process. */
export const largeFrames = new LargeFrames();
