import { MeshError } from '../contracts/errors.ts';
import { largeFrames, type Waiter } from './large-frames.ts';
import { type Slab, slabs } from './slab.ts';

/**
 * Framing: every blob on a connection is written as a 4-byte big-endian length followed by exactly that many
 * bytes. An excessive length is a violation that closes the connection; the codec interprets the bytes.
 */
export const PREFIX_BYTES = 4;

/** Returns `blob` with its length prefix in one buffer: one write, and one packet on the wire if it fits. */
export function encodeFrame(blob: Uint8Array): Buffer {
  return encodeFrames([blob]);
}

/** Returns the frames of all blobs, side by side in one buffer. */
export function encodeFrames(blobs: readonly Uint8Array[]): Buffer {
  const frames = Buffer.allocUnsafe(blobs.reduce((sum, { length }) => sum + PREFIX_BYTES + length, 0));
  let at = 0;
  for (const blob of blobs) {
    at = frames.writeUInt32BE(blob.length, at);
    frames.set(blob, at);
    at += blob.length;
  }
  return frames;
}

/**
 * Adjacent frames in a slab, with their prefixes; the last may be incomplete. The receiver takes them one
 * after the other. Frames that it leaves are dropped; to keep data beyond its call it copies the data or
 * holds the slab.
 */
export class FrameRun {
  readonly slab: Slab;
  /** Position of the last taken frame's blob in the slab: everything before `end` is taken. */
  start: number;
  end: number;
  readonly #limit: number;
  readonly #maxFrameBytes: number;
  #blob: Uint8Array | undefined;

  /**
   * Covers the frames in `[start .. limit)` of the slab. A frame longer than `maxFrameBytes` is a violation
   * and never counts as whole.
   */
  constructor(slab: Slab, start: number, limit: number, maxFrameBytes: number) {
    this.slab = slab;
    this.start = start;
    this.end = start;
    this.#limit = limit;
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** True if there is a whole frame to take. */
  get hasNext(): boolean {
    return this.#endOfNext() !== -1;
  }

  /** Takes the next frame. Returns false if none is whole. */
  next(): boolean {
    const end = this.#endOfNext();
    if (end === -1) return false;
    this.start = this.end + PREFIX_BYTES;
    this.end = end;
    this.#blob = undefined;
    return true;
  }

  /** View of the taken frame without its prefix; repeated reads return the same object. */
  get blob(): Uint8Array {
    const { buffer, byteOffset } = this.slab.bytes;
    this.#blob ??= new Uint8Array(buffer, byteOffset + this.start, this.end - this.start);
    return this.#blob;
  }

  /** Takes all remaining frames. */
  *blobs(): Generator<Uint8Array> {
    while (this.next()) yield this.blob;
  }

  /** Takes all remaining frames as copies that outlive the receiver's call. */
  copies(): Buffer[] {
    return Array.from(this.blobs(), (blob) => Buffer.from(blob));
  }

  /** Returns the end of the next frame, or -1 if it is not whole. */
  #endOfNext(): number {
    const start = this.end + PREFIX_BYTES;
    if (start > this.#limit) return -1;
    const length = this.slab.bytes.readUInt32BE(this.end);
    const end = start + length;
    return length <= this.#maxFrameBytes && end <= this.#limit ? end : -1;
  }
}

/**
 * Minimum room at a slab's end; with less, the rest moves to a fresh slab, because each small read costs a
 * system call.
 */
const MIN_READ_BYTES = 16 * 1024;

/** Maximum growth of the slab for a frame that fills it: few bytes are moved twice. */
const MAX_GROWTH = 4;

/**
 * Finds frames in a stream. Bytes are read straight into a slab ({@link space}, then {@link received}), so
 * that complete frames are contiguous and can be forwarded as one slice, untouched (MP-12).
 *
 * A slab is overwritten only if nothing else holds it. Memory: one slab, or for a larger frame its own slab,
 * without room for the next frame, that grows with the bytes that really came: a length alone, however large,
 * takes no memory.
 */
export class FrameReader {
  readonly #onRun: (run: FrameRun) => void;
  #maxFrameBytes: number;
  /** Frames up to this size are not large: `SlabPool.usualBytes` at a time when nothing was pending here. */
  #usualBytes = slabs.usualBytes;
  #slab = slabs.take(this.#usualBytes);
  #start = 0;
  #end = 0;
  /** End of the slab's room. It exceeds the usual size for a large frame, which begins at 0. */
  #limit = this.#usualBytes;
  #isEnded = false;
  #waiter: Waiter | undefined;
  /** Room while the waiter waits: Node asks for the buffer of the next read before it pauses. */
  #oneByte: Buffer | undefined;

  constructor(maxFrameBytes: number, onRun: (run: FrameRun) => void) {
    this.#maxFrameBytes = maxFrameBytes;
    this.#onRun = onRun;
    slabs.countReaders(1);
  }

  /** Maximum frame size; a longer frame is a violation. It is raised when the handshake has ended. */
  set maxFrameBytes(bytes: number) {
    this.#maxFrameBytes = bytes;
  }

  /** Connection that waits for its turn to read a large frame. */
  set waiter(waiter: Waiter) {
    this.#waiter = waiter;
  }

  /** Bytes of an incomplete frame. If it is not 0 at the end of a stream, the frame is torn. */
  get pendingBytes(): number {
    return this.#end - this.#start;
  }

  /** Bytes of memory that the reader holds, however few of them are in use. */
  get heldBytes(): number {
    return this.#slab.bytes.length;
  }

  /**
   * Returns the room for the next bytes; it is never empty. Ask before each read, because earlier room may no
   * longer be held.
   */
  space(): Buffer {
    if (this.#oneByte !== undefined) return this.#oneByte;
    if (this.#start > 0) this.#rewind();
    return this.#slab.bytes.subarray(this.#end, this.#limit);
  }

  /** Releases the memory at the end of the stream. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    slabs.countReaders(-1);
    this.#slab.release();
    if (this.#waiter !== undefined) largeFrames.end(this.#waiter);
  }

  /**
   * Handles `count` bytes that were written to the start of {@link space}: calls `onRun` with all frames that
   * are now whole.
   *
   * @throws MeshError `frame` for a length above the maximum; the reader must not be used after it
   */
  received(count: number): void {
    if (this.#oneByte !== undefined) this.#goOn(this.#oneByte);
    this.#end += count;
    const run = new FrameRun(this.#slab, this.#start, this.#end, this.#maxFrameBytes);
    if (run.hasNext) {
      this.#onRun(run);
      // The receiver may have ended the connection, and released the slab.
      if (this.#isEnded) return;
      while (run.next());
      this.#start = run.end;
    }
    // Frames before a violation are whole, so they are delivered before the connection ends.
    this.#checkNext();
    this.#makeRoom();
  }

  /** Copies `chunk` in, for sockets that bring their own buffers. */
  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      const space = this.space();
      const count = Math.min(space.length, chunk.length - at);
      space.set(chunk.subarray(at, at + count));
      this.received(count);
      at += count;
    }
  }

  #checkNext(): void {
    if (this.pendingBytes < PREFIX_BYTES) return;
    const length = this.#slab.bytes.readUInt32BE(this.#start);
    if (length <= this.#maxFrameBytes) return;
    throw new MeshError(
      'frame',
      `frame of ${length} bytes: at most ${this.#maxFrameBytes} are allowed here (is the other end speaking this protocol?)`,
    );
  }

  #makeRoom(): void {
    const pending = this.#end - this.#start;
    if (this.#limit > slabs.usualBytes && pending === 0) {
      this.#usualBytes = slabs.usualBytes;
      this.#moveTo(this.#usualBytes);
      if (this.#waiter !== undefined) largeFrames.end(this.#waiter);
      return;
    }
    if (this.#start === 0 && this.#end === this.#limit) this.#makeRoomForLarge();
  }

  /** Continues at the slab's front again, or in another slab. */
  #rewind(): void {
    const isFree = this.#slab.isUnshared;
    const isShort = this.#limit - this.#end < MIN_READ_BYTES;
    // The next read may then fill the whole slab: moving a few bytes saves system calls.
    if (isFree && (isShort || this.pendingBytes <= MIN_READ_BYTES)) this.#moveToFront();
    else if (isShort) this.#moveTo(this.#usualBytes);
  }

  /** Makes room when one incomplete frame fills the slab. */
  #makeRoomForLarge(): void {
    const mayGrow =
      this.#limit > this.#usualBytes ||
      this.#waiter === undefined ||
      largeFrames.begin(this.#waiter, this.#frameBytes);
    if (mayGrow) this.#grow();
    else this.#oneByte = Buffer.allocUnsafe(1);
  }

  #goOn(oneByte: Buffer): void {
    this.#oneByte = undefined;
    this.#grow();
    this.#slab.bytes.set(oneByte, this.#end);
  }

  /** Grows the slab with the bytes that came, not with the announced length. */
  #grow(): void {
    this.#moveTo(Math.min(this.#frameBytes, MAX_GROWTH * this.pendingBytes));
  }

  /** Size of the frame that begins the pending bytes. */
  get #frameBytes(): number {
    return PREFIX_BYTES + this.#slab.bytes.readUInt32BE(this.#start);
  }

  #moveToFront(): void {
    this.#slab.bytes.copyWithin(0, this.#start, this.#end);
    this.#end -= this.#start;
    this.#start = 0;
  }

  #moveTo(bytes: number): void {
    const next = slabs.take(bytes);
    this.#end = this.#slab.bytes.copy(next.bytes, 0, this.#start, this.#end);
    this.#slab.release();
    this.#slab = next;
    this.#start = 0;
    this.#limit = bytes;
  }
}
