/**
 * Bytes that come in parts and are read as one piece. Adding a part copies it at most a few times, however
 * small the parts are; a list of parts of one byte each would take a hundred bytes for each of them.
 */
export class ByteQueue {
  #buffer: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  /** True if the space behind the end is this queue's, and not of the part that came. */
  #isOwn = false;

  get length(): number {
    return this.#end - this.#start;
  }

  /** The bytes that are there. */
  get bytes(): Buffer {
    return this.#buffer.subarray(this.#start, this.#end);
  }

  add(part: Buffer): void {
    const { length } = this;
    if (length === 0) {
      this.#buffer = part;
      this.#start = 0;
      this.#end = part.length;
      this.#isOwn = false;
      return;
    }
    if (!this.#isOwn || this.#end + part.length > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(2 * (length + part.length));
      this.bytes.copy(larger);
      this.#buffer = larger;
      this.#start = 0;
      this.#end = length;
      this.#isOwn = true;
    }
    part.copy(this.#buffer, this.#end);
    this.#end += part.length;
  }

  /** Removes the first bytes and returns them. They are never written to again. */
  take(length: number): Buffer {
    const taken = this.#buffer.subarray(this.#start, this.#start + length);
    this.#start += length;
    return taken;
  }
}
