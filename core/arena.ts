const PAGE_BYTES = 64 * 1024;

/** As much as the links of a busy hub read into and keep for later. The system gives only what is used of it. */
const ARENA_BYTES = 10 * 1024 * 1024;

/** At its start, for whoever looks at what lies in the arena. */
const SCRATCH_BYTES = 8 * 1024;

/** At its end, so that a look behind a slab's last byte stays inside. */
const MARGIN_BYTES = 8 * 1024;

/**
 * Memory in which WebAssembly can look at bytes where they lie; to copy them there would cost more than it spares. It never grows, as
 * that would take it away from all who hold a part of it, and nothing is given back.
 */
export class Arena {
  #memory: WebAssembly.Memory | undefined;
  #end = SCRATCH_BYTES;

  get memory(): WebAssembly.Memory {
    const pages = ARENA_BYTES / PAGE_BYTES;
    this.#memory ??= new WebAssembly.Memory({ initial: pages, maximum: pages });
    return this.#memory;
  }

  /** Whether the bytes lie here. */
  has(bytes: Uint8Array): boolean {
    return bytes.buffer === this.#memory?.buffer;
  }

  /** Undefined where there is no room left. */
  take(bytes: number): Buffer<ArrayBuffer> | undefined {
    const start = this.#end;
    if (start + bytes > ARENA_BYTES - MARGIN_BYTES) return undefined;
    this.#end += bytes;
    return Buffer.from(this.memory.buffer, start, bytes);
  }
}

/** The process's own. */
export const arena = new Arena();
