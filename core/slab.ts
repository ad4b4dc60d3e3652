/**
 * Memory that bytes are received into and sent from. A slab goes back to its pool when nobody holds it any more: left to the
 * collector, buffers of a busy hub pile up faster than it runs.
 */
export class Slab {
  readonly bytes: Buffer;
  readonly #onFree: (slab: Slab) => void;
  #holders = 1;

  constructor(bytes: Buffer, onFree: (slab: Slab) => void) {
    this.bytes = bytes;
    this.#onFree = onFree;
  }

  /** Whether its taker is the only one who holds it: then nothing of it is still to be sent. */
  get isUnshared(): boolean {
    return this.#holders === 1;
  }

  hold(): void {
    this.#holders += 1;
  }

  /** A function of its own, so that it can be a write's callback without a closure for each. */
  readonly release = (): void => {
    this.#holders -= 1;
    if (this.#holders === 0) this.#onFree(this);
  };
}

/** Room for hundreds of small frames in one read: half of it cost a tenth more processor time a frame, twice of it saved nothing. */
export const SLAB_BYTES = 256 * 1024;

/** What a pool keeps for later of all sizes together: what the links of a busy hub pass around within one turn. */
const MAX_FREE_BYTES = 8 * 1024 * 1024;

/** Slabs of {@link SLAB_BYTES} times a power of two. */
export class SlabPool {
  readonly #free = new Map<number, Slab[]>();
  readonly #maxFreeBytes: number;
  #freeBytes = 0;

  constructor(maxFreeBytes = MAX_FREE_BYTES) {
    this.#maxFreeBytes = maxFreeBytes;
  }

  /** A slab of at least `bytes`, with whatever was in it. Whoever takes it holds it, and releases it. */
  take(bytes = SLAB_BYTES): Slab {
    let size = SLAB_BYTES;
    while (size < bytes) size *= 2;
    const free = this.#free.get(size)?.pop();
    if (free !== undefined) {
      this.#freeBytes -= size;
      free.hold();
      return free;
    }
    return new Slab(Buffer.allocUnsafeSlow(size), (slab) => this.#take(slab));
  }

  #take(slab: Slab): void {
    const size = slab.bytes.length;
    if (this.#freeBytes + size > this.#maxFreeBytes) return;
    this.#freeBytes += size;
    const free = this.#free.get(size);
    if (free === undefined) this.#free.set(size, [slab]);
    else free.push(slab);
  }
}

/** The process's own. */
export const slabs = new SlabPool();
