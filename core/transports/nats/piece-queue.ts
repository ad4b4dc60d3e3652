/** Bytes that wait, in the pieces in which they came. */
export class PieceQueue {
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** `piece` must stay as it is for as long as it waits; see {@link own}. */
  add(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
  }

  /** Copies what waits: it may be overwritten where it lies. */
  own(): void {
    this.#pieces.forEach((piece, i) => {
      this.#pieces[i] = Buffer.from(piece);
    });
  }

  /** Takes the first bytes out, into the whole of `target`. There must be as many. */
  take(target: Uint8Array): void {
    let used = 0;
    let at = 0;
    for (const piece of this.#pieces) {
      const part = piece.subarray(0, target.length - at);
      target.set(part, at);
      at += part.length;
      if (part.length < piece.length) {
        this.#pieces[used] = piece.subarray(part.length);
        break;
      }
      used += 1;
    }
    this.#pieces.splice(0, used);
    this.#bytes -= target.length;
  }

  clear(): void {
    this.#pieces.length = 0;
    this.#bytes = 0;
  }
}
