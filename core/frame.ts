import { MeshError } from './errors.ts';
import { largeFrames, type Waiter } from './large-frames.ts';
import { type Slab, slabs } from './slab.ts';

/**
 * Framing: every blob on a connection is written as a 4-byte big-endian length followed by exactly that many bytes.
 * An over-long length is a violation that closes the connection; what the bytes mean is the codec's business.
 */
export const PREFIX_BYTES = 4;

/** `blob` with its length prefix, as one buffer: one write, one packet on the wire where it fits. */
export function frameOf(blob: Uint8Array): Buffer {
  return framesOf([blob]);
}

/** Frames of all blobs, side by side in one buffer. */
export function framesOf(blobs: readonly Uint8Array[]): Buffer {
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
 * Frames that lie side by side in one buffer, with their prefixes; the last may be torn. They are taken one after the other, or many at
 * once by who knows where they end. What the receiver leaves is dropped.
 */
export class FrameRun {
  readonly bytes: Buffer;
  /** What the bytes lie in: held, they stay as they are beyond the receiver's call. */
  readonly slab: Slab;
  /** A longer frame is a violation, and is never whole. */
  readonly maxFrameBytes: number;
  /** Where the next frame begins: all before it are taken. */
  at = 0;

  constructor(bytes: Buffer, slab: Slab, maxFrameBytes: number) {
    this.bytes = bytes;
    this.slab = slab;
    this.maxFrameBytes = maxFrameBytes;
  }

  /** Where the frame that begins at `start` ends; -1 if it is not whole. */
  endOf(start: number): number {
    const { bytes } = this;
    if (bytes.length - start < PREFIX_BYTES) return -1;
    const length = bytes.readUInt32BE(start);
    const end = start + PREFIX_BYTES + length;
    return length <= this.maxFrameBytes && end <= bytes.length ? end : -1;
  }

  /** Takes the next frame: its blob, without the prefix, as a view. Undefined when none is whole. */
  next(): Buffer | undefined {
    const start = this.at;
    const end = this.endOf(start);
    if (end === -1) return undefined;
    this.at = end;
    return this.bytes.subarray(start + PREFIX_BYTES, end);
  }

  /** Takes all that are left. */
  *blobs(): Generator<Buffer> {
    for (let blob = this.next(); blob !== undefined; blob = this.next()) yield blob;
  }

  /** Takes all that are left, as copies that outlive the receiver's call. */
  copies(): Buffer[] {
    return Array.from(this.blobs(), (blob) => Buffer.from(blob));
  }

  /** Takes all that are left, and looks at none. */
  dropRest(): void {
    for (let end = this.endOf(this.at); end !== -1; end = this.endOf(this.at)) this.at = end;
  }
}

/**
 * What the receiver of a run did with its bytes: `kept` means that somebody still refers to them, who will not say when that
 * is over. Who holds the run's slab is `done`.
 */
export type RunUse = 'done' | 'kept';

/** With less room than this at a slab's end the rest moves to a fresh one: small reads cost a system call each. */
const MIN_READ_BYTES = 16 * 1024;

/** A frame that fills its slab gets one that is at most so many times as large: few of its bytes are moved twice. */
const MAX_GROWTH = 4;

/**
 * Finds frames in a stream. The bytes are read straight into a slab ({@link space}, then {@link received}), so that
 * complete frames are contiguous and can be forwarded as one slice, untouched (MP-12).
 *
 * A slab is written again only if nobody holds it; one that a receiver has kept is left to the collector.
 * Memory: one slab, or for a frame beyond it one of its own, without room for the next, that grows with the bytes that really
 * came, so that a length alone, however large, takes no memory.
 */
export class FrameReader {
  readonly #onRun: (run: FrameRun) => RunUse;
  #maxFrameBytes: number;
  /** Up to here a frame is no large one: `SlabPool.usualBytes` as it was when nothing was pending here. */
  #usualBytes = slabs.usualBytes;
  #slab = slabs.take(this.#usualBytes);
  #start = 0;
  #end = 0;
  /** Where the slab's room ends. It is beyond the usual for a large frame, which begins at 0. */
  #limit = this.#usualBytes;
  #kept = false;
  #isEnded = false;
  #waiter: Waiter | undefined;
  /** Room while the waiter waits: Node wants to know where the next read goes before it pauses. */
  #oneByte: Buffer | undefined;

  constructor(maxFrameBytes: number, onRun: (run: FrameRun) => RunUse) {
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

  /** Where the next bytes go; never empty. */
  space(): Buffer {
    return this.#oneByte ?? this.#slab.bytes.subarray(this.#end, this.#limit);
  }

  /** Nothing comes any more. */
  end(): void {
    if (!this.#isEnded) slabs.countReaders(-1);
    this.#isEnded = true;
    if (!this.#kept) this.#slab.release();
    this.#kept = true;
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
    const run = new FrameRun(
      this.#slab.bytes.subarray(this.#start, this.#end),
      this.#slab,
      this.#maxFrameBytes,
    );
    if (run.endOf(0) !== -1) {
      if (this.#onRun(run) === 'kept') this.#kept = true;
      run.dropRest();
      this.#start += run.at;
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
    const isFree = !this.#kept && this.#slab.isUnshared;
    if (this.#start === 0) {
      if (this.#end === this.#limit) this.#makeRoomForLarge();
    } else if (isFree && pending <= MIN_READ_BYTES) {
      // The next read may then fill the whole slab: a few bytes moved spare calls of the system.
      this.#moveToFront();
    } else if (this.#limit - this.#end < MIN_READ_BYTES) {
      if (isFree) this.#moveToFront();
      else this.#moveTo(this.#usualBytes);
    }
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
    if (!this.#kept) this.#slab.release();
    this.#slab = next;
    this.#start = 0;
    this.#limit = bytes;
    this.#kept = false;
  }
}
