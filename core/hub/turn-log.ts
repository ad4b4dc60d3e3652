import { SLAB_BYTES, type Slab, slabs } from '../slab.ts';
import type { Link } from './link.ts';

/** Longer runs are written at once: copying them would cost more than the call of the system that it spares. */
export const MAX_COALESCED_BYTES = 16 * 1024;

/**
 * What comes in small runs within one turn of the event loop, copied once, one behind the other. At the turn's end each destination
 * gets what is for it with one write: where all hear all, the log less its own bytes, in two slices at most.
 */
export class TurnLog {
  readonly #onBacklog: (link: Link) => void;
  readonly #waiting: Link[] = [];
  /** Slabs that were filled in this turn. */
  readonly #full: Slab[] = [];
  #slab: Slab = slabs.take();
  #end = 0;
  #isScheduled = false;

  /** `onBacklog` is told of a link whose bytes the system did not take whole. */
  constructor(onBacklog: (link: Link) => void) {
    this.#onBacklog = onBacklog;
  }

  /** Takes `packets` frames, {@link MAX_COALESCED_BYTES} at most, for `links`. The bytes may be overwritten afterwards. */
  add(frames: Buffer, packets: number, links: readonly Link[]): void {
    if (this.#end + frames.length > SLAB_BYTES) {
      this.#full.push(this.#slab);
      this.#slab = slabs.take();
      this.#end = 0;
    }
    const start = this.#end;
    this.#slab.bytes.set(frames, start);
    this.#end += frames.length;
    for (const link of links) {
      if (link.defer(this.#slab, start, this.#end, packets)) this.#waiting.push(link);
    }
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.flush);
  }

  readonly flush = (): void => {
    this.#isScheduled = false;
    for (const link of this.#waiting) if (!link.flush()) this.#onBacklog(link);
    this.#waiting.length = 0;
    for (const slab of this.#full) slab.release();
    this.#full.length = 0;
    if (this.#slab.isUnshared) this.#end = 0;
  };

  /** Writes what waits. It takes nothing any more. */
  end(): void {
    this.flush();
    this.#slab.release();
  }
}
