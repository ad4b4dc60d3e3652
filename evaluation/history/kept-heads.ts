import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';

interface Kept<Head> {
  readonly size: number;
  readonly modifiedMs: number;
  readonly head: Head;
}

/** What a file says of itself, and since when. */
type HeadOf<Head> = Pick<Kept<Head>, 'modifiedMs' | 'head'>;

/** What files say of themselves, read again only where size or time of change are others than they were. */
export class KeptHeads<Head> {
  readonly #kept = new Map<string, Kept<Head>>();
  #asked = new Set<string>();
  readonly #read: (descriptor: number, size: number) => string;

  constructor(read = textOf) {
    this.#read = read;
  }

  /**
   * Of a file that is one: a pipe stops nobody, and a link leads nowhere. Undefined for others, and for those that are too long.
   *
   * @param most bytes that are read; 0: none are, and any length will do
   */
  of(file: string, most: number, headIn: (text: string) => Head): HeadOf<Head> | undefined {
    this.#asked.add(file);
    const before = this.#kept.get(file);
    const now = lstatSync(file, { throwIfNoEntry: false });
    if (before !== undefined && now?.size === before.size && now.mtimeMs === before.modifiedMs) return before;
    let descriptor: number;
    try {
      descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    } catch {
      this.#kept.delete(file);
      return undefined;
    }
    try {
      const status = fstatSync(descriptor);
      if (!status.isFile() || (most > 0 && status.size > most)) return undefined;
      const head = headIn(most === 0 ? '' : this.#read(descriptor, status.size));
      const kept = { size: status.size, modifiedMs: status.mtimeMs, head };
      this.#kept.set(file, kept);
      return kept;
    } finally {
      closeSync(descriptor);
    }
  }

  /** Forgets files that nobody asked for since the last time: they are gone. */
  forgetOthers(): void {
    for (const file of this.#kept.keys()) if (!this.#asked.has(file)) this.#kept.delete(file);
    this.#asked = new Set();
  }
}

function textOf(descriptor: number, size: number): string {
  const bytes = Buffer.alloc(size);
  return bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, 0));
}
