import { MeshError } from '../contracts/errors.ts';
import { largeFrames, type Waiter } from './large-frames.ts';
import { type Slab, slabs } from './slab.ts';

/**
 * Framing: every blob on a connection is written as a 4-byte big-endian length followed by exactly that many bytes.
 * An over-long length is a violation that closes the connection; what the bytes mean is the codec's business.
 */
export const PREFIX_BYTES = 4;

/** `blob` with its length prefix, as one buffer: one write, one packet on the wire where it fits. */
export function encodeFrame(blob: Uint8Array): Buffer {
  return encodeFrames([blob]);
}

/** Frames of all blobs, side by side in one buffer. */
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
 * Frames that lie side by side in a slab, with their prefixes; the last may be torn. They are taken one after the other. What the
 * receiver leaves is dropped; what it wants to have beyond its call it copies, or holds the slab.
 */
export class FrameRun {
  readonly slab: Slab;
  /** Where the blob of the frame that was taken last lies in the slab: all before `end` is taken. */
  start: number;
  end: number;
  readonly #limit: number;
  readonly #maxFrameBytes: number;
  #blob: Uint8Array | undefined;

  /** The frames in `[start .. limit)` of the slab. One longer than `maxFrameBytes` is a violation, and is never whole. */
  constructor(slab: Slab, start: number, limit: number, maxFrameBytes: number) {
    this.slab = slab;
    this.start = start;
    this.end = start;
    this.#limit = limit;
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** Whether there is a whole frame to take. */
  get hasNext(): boolean {
    return this.#endOfNext() !== -1;
  }

  /** Takes the next frame. False when none is whole. */
  next(): boolean {
    const end = this.#endOfNext();
    if (end === -1) return false;
    this.start = this.end + PREFIX_BYTES;
    this.end = end;
    this.#blob = undefined;
    return true;
  }

  /** The frame that was taken, without its prefix, as a view: the same one each time. */
  get blob(): Uint8Array {
    const { buffer, byteOffset } = this.slab.bytes;
    this.#blob ??= new Uint8Array(buffer, byteOffset + this.start, this.end - this.start);
    return this.#blob;
  }

  /** Takes all that are left. */
  *blobs(): Generator<Uint8Array> {
    while (this.next()) yield this.blob;
  }

  /** Takes all that are left, as copies that outlive the receiver's call. */
  copies(): Buffer[] {
    return Array.from(this.blobs(), (blob) => Buffer.from(blob));
  }

  /** -1 if it is not whole. */
  #endOfNext(): number {
    const start = this.end + PREFIX_BYTES;
    if (start > this.#limit) return -1;
    const length = this.slab.bytes.readUInt32BE(this.end);
    const end = start + length;
    return length <= this.#maxFrameBytes && end <= this.#limit ? end : -1;
  }
}

/** With less room than this at a slab's end the rest moves to a fresh one: small reads cost a system call each. */
const MIN_READ_BYTES = 16 * 1024;

/** A frame that fills its slab gets one that is at most so many times as large: few of its bytes are moved twice. */
const MAX_GROWTH = 4;

/**
 * Finds frames in a stream. The bytes are read straight into a slab ({@link space}, then {@link received}), so that
 * complete frames are contiguous and can be forwarded as one slice, untouched (MP-12).
 *
 * A slab is written again only if nobody else holds it.
 * Memory: one slab, or for a frame beyond it one of its own, without room for the next, that grows with the bytes that really
 * came, so that a length alone, however large, takes no memory.
 */
export class FrameReader {
  readonly #onRun: (run: FrameRun) => void;
  #maxFrameBytes: number;
  /** Up to here a frame is no large one: `SlabPool.usualBytes` as it was when nothing was pending here. */
  #usualBytes = slabs.usualBytes;
  #slab = slabs.take(this.#usualBytes);
  #start = 0;
  #end = 0;
  /** Where the slab's room ends. It is beyond the usual for a large frame, which begins at 0. */
  #limit = this.#usualBytes;
  #isEnded = false;
  #waiter: Waiter | undefined;
  /** Room while the waiter waits: Node wants to know where the next read goes before it pauses. */
  #oneByte: Buffer | undefined;

  constructor(maxFrameBytes: number, onRun: (run: FrameRun) => void) {
    this.#maxFrameBytes = maxFrameBytes;
    this.#onRun = onRun;
    slabs.countReaders(1);
  }

  /** A longer frame is a violation. Raised when the handshake has ended. */
  set maxFrameBytes(bytes: number) {
    this.#maxFrameBytes = bytes;
  }

  /** The connection, where it waits for its turn to read a large frame. */
  set waiter(waiter: Waiter) {
    this.#waiter = waiter;
  }

  /** Bytes of a frame that has begun and not ended. Not 0 at the end of a stream: the frame is torn. */
  get pendingBytes(): number {
    return this.#end - this.#start;
  }

  /** Memory of its own, however little of it is in use. */
  get heldBytes(): number {
    return this.#slab.bytes.length;
  }

  /** Where the next bytes go; never empty. To be asked for before each of them: what was held may not be held any more. */
  space(): Buffer {
    if (this.#oneByte !== undefined) return this.#oneByte;
    if (this.#start > 0) this.#rewind();
    return this.#slab.bytes.subarray(this.#end, this.#limit);
  }

  /** Nothing comes any more. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    slabs.countReaders(-1);
    this.#slab.release();
    if (this.#waiter !== undefined) largeFrames.end(this.#waiter);
  }

  /**
   * `count` bytes were written to the start of {@link space}. Calls `onRun` with all frames that are whole now.
   *
   * @throws MeshError `frame` for a length above the maximum; the reader must not be used after it
   */
  received(count: number): void {
    if (this.#oneByte !== undefined) this.#goOn(this.#oneByte);
    this.#end += count;
    const run = new FrameRun(this.#slab, this.#start, this.#end, this.#maxFrameBytes);
    if (run.hasNext) {
      this.#onRun(run);
      // The receiver may have ended the connection, and the slab with it.
      if (this.#isEnded) return;
      while (run.next());
      this.#start = run.end;
    }
    // The frames before a violation were whole: they are delivered before the connection ends.
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

  /** Begins at the slab's front again, or in another one. */
  #rewind(): void {
    const isFree = this.#slab.isUnshared;
    const isShort = this.#limit - this.#end < MIN_READ_BYTES;
    // The next read may then fill the whole slab: a few bytes moved spare calls of the system.
    if (isFree && (isShort || this.pendingBytes <= MIN_READ_BYTES)) this.#moveToFront();
    else if (isShort) this.#moveTo(this.#usualBytes);
  }

  /** The slab is full of one frame that has more bytes. */
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

  /** Memory follows the bytes that came, not the length that was announced. */
  #grow(): void {
    this.#moveTo(Math.min(this.#frameBytes, MAX_GROWTH * this.pendingBytes));
  }

  /** Of the frame that begins the pending bytes. */
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
