/**
 * Memory that bytes are received into and sent from. A slab goes back to its pool when nobody holds it any more: left to the
 * collector, buffers of a busy hub pile up faster than it runs.
 */
export class Slab {
  readonly bytes: Buffer<ArrayBuffer>;
  readonly #onFree: (slab: Slab) => void;
  #holders = 1;

  constructor(bytes: Buffer<ArrayBuffer>, onFree: (slab: Slab) => void) {
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

/**
 * Room for hundreds of small frames in one read: half of it cost a tenth more processor time a frame, twice of it saved nothing. A
 * packet that fills a power of two has some bytes around it.
 */
export const SLAB_BYTES = 260 * 1024;

/** With many links a read is passed on so often that its own costs hardly count, and the slabs of all links together do. */
export const SMALL_SLAB_BYTES = 68 * 1024;

/** As many links as have slabs of {@link SLAB_BYTES} each. */
const MANY_LINKS = 16;

/** What a pool keeps for later of all sizes together: what the links of a busy hub pass around within one turn. */
const MAX_FREE_BYTES = 4 * 1024 * 1024;

/** Slabs of {@link SMALL_SLAB_BYTES} and of multiples of {@link SLAB_BYTES}. Where too many are free the one goes that nobody has wanted for longest. */
export class SlabPool {
  /** The one that came back last is the last. */
  readonly #free: Slab[] = [];
  readonly #maxFreeBytes: number;
  #freeBytes = 0;
  #readers = 0;
  #expected = 0;

  constructor(maxFreeBytes = MAX_FREE_BYTES) {
    this.#maxFreeBytes = maxFreeBytes;
  }

  /** One more who reads, or one less. */
  countReaders(change: 1 | -1): void {
    this.#readers += change;
  }

  /** So many will read soon, those who do so already among them; 0 when they have all begun. */
  expectReaders(count: number): void {
    this.#expected = count;
  }

  /** What a reader should take, as long as its frames are no longer. */
  get usualBytes(): number {
    return Math.max(this.#readers, this.#expected) > MANY_LINKS ? SMALL_SLAB_BYTES : SLAB_BYTES;
  }

  /** A slab of at least `bytes`, with whatever was in it. Whoever takes it holds it, and releases it. */
  take(bytes = SLAB_BYTES): Slab {
    const size = bytes <= SMALL_SLAB_BYTES ? SMALL_SLAB_BYTES : Math.ceil(bytes / SLAB_BYTES) * SLAB_BYTES;
    const at = this.#free.findLastIndex((slab) => slab.bytes.length === size);
    const [free] = at < 0 ? [] : this.#free.splice(at, 1);
    if (free === undefined) return new Slab(Buffer.allocUnsafeSlow(size), (slab) => this.#keep(slab));
    this.#freeBytes -= size;
    free.hold();
    return free;
  }

  #keep(slab: Slab): void {
    this.#free.push(slab);
    this.#freeBytes += slab.bytes.length;
    while (this.#freeBytes > this.#maxFreeBytes) {
      // One that alone is too large must not drive out all others.
      const isTooLarge = slab.bytes.length > this.#maxFreeBytes;
      const dropped = isTooLarge ? this.#free.pop() : this.#free.shift();
      if (dropped === undefined) return;
      this.#freeBytes -= dropped.bytes.length;
      // Given back to the system at once: left to the collector, they were hundreds of megabytes.
      dropped.bytes.buffer.transfer(0);
    }
  }
}

/** The process's own. */
export const slabs = new SlabPool();
