import { MeshError } from '../contracts/errors.ts';
import {
  LARGE_FRAME_PATIENCE_MS,
  MAX_BEGUN_FRAMES_BYTES,
  MAX_LARGE_FRAMES_BYTES,
  STALL_TIMEOUT_MS,
} from '../contracts/limits.ts';

/** A connection that can wait in the middle of a frame. */
export interface Waiter {
  /** Bytes that have come of the frame. */
  readonly pendingBytes: number;
  /** Whether its owner lets nothing be read from it: it could not use a turn. */
  readonly isPaused: boolean;
  /** Reads nothing until it may go on. */
  wait(): void;
  goOn(): void;
  /** Closes it at once. */
  destroy(fault: MeshError): void;
}

interface Turn {
  readonly bytes: number;
  /** What had come of the frame at the last look. */
  seenBytes: number;
  isMoving: boolean;
  /** Looks one after the other that found it where it was, although it could have come on. */
  looksInVain: number;
}

/** The part of a frame that must come in {@link LARGE_FRAME_PATIENCE_MS}: so no frame, however long, keeps others waiting for a second. */
const MIN_PROGRESS = 1 / 8;

/** Looks, not time: a hub that was itself stopped has looked at nobody. */
const MAX_LOOKS_IN_VAIN = STALL_TIMEOUT_MS / LARGE_FRAME_PATIENCE_MS;

/**
 * Who may read a frame that needs memory of its own: first come, first served, as many as fit into the bound, and one of any size.
 *
 * Nobody waits for ever. A turn is for a whole frame, so whoever has one needs no other. A frame that does not come on does not count,
 * so an agent that stops in the middle of one is not waited for. Its memory is not free, though: all frames that have begun fit into a
 * second bound, and who keeps others from beginning for {@link STALL_TIMEOUT_MS}, without a byte, is cut off. While a full destination has all links paused none gets a turn, but the
 * destination drains all the same: nothing has to be read for that.
 */
class LargeFrames {
  readonly #turns = new Map<Waiter, Turn>();
  readonly #waiting = new Map<Waiter, number>();
  #judging: NodeJS.Timeout | undefined;

  /** Of all frames whose turn it is and that come on. */
  get bytes(): number {
    let sum = 0;
    for (const { bytes, isMoving } of this.#turns.values()) if (isMoving) sum += bytes;
    return sum;
  }

  /** Of all frames whose turn it is, whether they come on or not: what memory they may take. */
  get begunBytes(): number {
    let sum = 0;
    for (const { bytes } of this.#turns.values()) sum += bytes;
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
    const hadTurn = this.#turns.delete(waiter);
    const waited = this.#waiting.delete(waiter);
    // What it had read when it was told to wait was the whole frame.
    if (waited) waiter.goOn();
    if (hadTurn || waited) this.look();
  }

  /** Lets those go on who can. To be called when one is paused no more. */
  look(): void {
    for (const [waiter, bytes] of this.#waiting) {
      if (waiter.isPaused) continue;
      const others = this.bytes;
      if (others > 0 && others + bytes > MAX_LARGE_FRAMES_BYTES) break;
      if (this.#turns.size > 0 && this.begunBytes + bytes > MAX_BEGUN_FRAMES_BYTES) break;
      this.#waiting.delete(waiter);
      this.#turns.set(waiter, { bytes, seenBytes: -bytes, isMoving: true, looksInVain: 0 });
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
    for (const [waiter, turn] of this.#turns) {
      const { pendingBytes } = waiter;
      turn.isMoving = pendingBytes - turn.seenBytes >= turn.bytes * MIN_PROGRESS;
      turn.looksInVain = waiter.isPaused || pendingBytes > turn.seenBytes ? 0 : turn.looksInVain + 1;
      turn.seenBytes = pendingBytes;
    }
    // One a look: its memory may be enough.
    const [gone] = [...this.#turns].filter(([, turn]) => turn.looksInVain > MAX_LOOKS_IN_VAIN);
    if (gone !== undefined) gone[0].destroy(createStallError(gone[1]));
    this.look();
  }
}

function createStallError({ bytes, seenBytes }: Turn): MeshError {
  const seconds = STALL_TIMEOUT_MS / 1000;
  const came = `${seenBytes} of ${bytes} bytes of a frame came, then nothing for ${seconds} s`;
  return new MeshError('frame', `${came}, while others waited for the memory that it holds`);
}

/** The process's own. */
export const largeFrames = new LargeFrames();
