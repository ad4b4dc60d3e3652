/**
 * Memory into which bytes are received and from which they are sent. A slab returns to its pool when it has
 * no holder: left to the garbage collector, buffers of a busy hub pile up faster than it runs.
 */
export class Slab {
  readonly bytes: Buffer<ArrayBuffer>;
  readonly #onFree: (slab: Slab) => void;
  #holders = 1;
  #view: Buffer<ArrayBuffer> | undefined;

  constructor(bytes: Buffer<ArrayBuffer>, onFree: (slab: Slab) => void) {
    this.bytes = bytes;
    this.#onFree = onFree;
  }

  /** True if its taker is the only holder: then none of its bytes are still to be sent. */
  get isUnshared(): boolean {
    return this.#holders === 1;
  }

  /** Returns the bytes in a range. A broadcast asks for one range once for each destination, and gets one object. */
  view(start: number, end: number): Buffer<ArrayBuffer> {
    const last = this.#view;
    const from = this.bytes.byteOffset + start;
    if (last !== undefined && last.byteOffset === from && last.length === end - start) return last;
    this.#view = this.bytes.subarray(start, end);
    return this.#view;
  }

  hold(): void {
    this.#holders += 1;
  }

  /** A function property, so that it can be a write's callback without a closure for each. */
  readonly release = (): void => {
    this.#holders -= 1;
    if (this.#holders === 0) this.#onFree(this);
  };
}

/**
 * Size of a slab: room for hundreds of small frames in one read. Half of it cost a tenth more processor time
 * per frame, twice of it saved nothing. The extra 4 KiB hold what surrounds a packet that fills a power of
 * two.
 */
export const SLAB_BYTES = 260 * 1024;

/**
 * Size of a slab with many links: a read is then forwarded so often that its own cost hardly counts, and the
 * slabs of all links together do.
 */
const SMALL_SLAB_BYTES = 68 * 1024;

/** Maximum number of links that have slabs of {@link SLAB_BYTES} each. */
const MANY_LINKS = 16;

/**
 * Maximum bytes of free slabs that a pool keeps: as many as the links of a busy hub pass around within one
 * turn.
 */
const MAX_FREE_BYTES = 4 * 1024 * 1024;

/**
 * A pool of slabs of {@link SMALL_SLAB_BYTES} and of multiples of {@link SLAB_BYTES}. If too many are free,
 * it drops the one that has been unused for longest.
 */
class SlabPool {
  /** Free slabs; the one that was returned last is the last. */
  readonly #free: Slab[] = [];
  #freeBytes = 0;
  #readers = 0;
  #expected = 0;

  /** Counts one more reader, or one less. */
  countReaders(change: 1 | -1): void {
    this.#readers += change;
  }

  /** Announces the number of readers expected soon, including present ones; 0 when all have begun. */
  expectReaders(count: number): void {
    this.#expected = count;
  }

  /** Slab size that a reader should take as long as its frames are no longer. */
  get usualBytes(): number {
    return Math.max(this.#readers, this.#expected) > MANY_LINKS ? SMALL_SLAB_BYTES : SLAB_BYTES;
  }

  /** Takes a slab of at least `bytes`, with arbitrary content. The caller holds it and must release it. */
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
    while (this.#freeBytes > MAX_FREE_BYTES) {
      // A slab that alone is too large must not drive out all others.
      const isTooLarge = slab.bytes.length > MAX_FREE_BYTES;
      const dropped = isTooLarge ? this.#free.pop() : this.#free.shift();
      if (dropped === undefined) return;
      this.#freeBytes -= dropped.bytes.length;
      // Return the memory to the system at once: left to the garbage collector, it reached hundreds of
      // megabytes.
      dropped.bytes.buffer.transfer(0);
    }
  }
}

/** Pool of this process. */
export const slabs = new SlabPool();
