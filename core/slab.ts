import { type Arena, arena } from './arena.ts';

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
  readonly #arena: Arena | undefined;
  #freeBytes = 0;
  #readers = 0;
  #expected = 0;

  /** The usual slabs lie in the arena, as long as there is room. */
  constructor(maxFreeBytes = MAX_FREE_BYTES, arena?: Arena) {
    this.#maxFreeBytes = maxFreeBytes;
    this.#arena = arena;
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
    if (free === undefined) return new Slab(this.#memory(size), (slab) => this.#keep(slab));
    if (!this.#isInArena(free)) this.#freeBytes -= size;
    free.hold();
    return free;
  }

  #memory(bytes: number): Buffer<ArrayBuffer> {
    return (bytes <= SLAB_BYTES ? this.#arena?.take(bytes) : undefined) ?? pagesOf(bytes);
  }

  #isInArena({ bytes }: Slab): boolean {
    return this.#arena?.has(bytes) === true;
  }

  #keep(slab: Slab): void {
    this.#free.push(slab);
    // What nobody gives back is bounded by itself.
    if (this.#isInArena(slab)) return;
    this.#freeBytes += slab.bytes.length;
    while (this.#freeBytes > this.#maxFreeBytes) {
      // One that alone is too large must not drive out all others.
      const isTooLarge = slab.bytes.length > this.#maxFreeBytes;
      const at = isTooLarge ? this.#free.length - 1 : this.#free.findIndex((free) => !this.#isInArena(free));
      const [dropped] = this.#free.splice(at, 1);
      if (dropped === undefined) return;
      this.#freeBytes -= dropped.bytes.length;
      // Given back to the system at once: left to the collector, they were hundreds of megabytes.
      dropped.bytes.buffer.transferToFixedLength(0);
    }
  }
}

/**
 * Memory that comes from the system in pages, and goes back so. What malloc is given back it may keep, in pieces: after slow consumers a hub
 * held ten megabytes more for ever.
 */
function pagesOf(bytes: number): Buffer<ArrayBuffer> {
  return Buffer.from(new ArrayBuffer(bytes, { maxByteLength: bytes }), 0, bytes);
}

/** The process's own. */
export const slabs = new SlabPool(MAX_FREE_BYTES, arena);
