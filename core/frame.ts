import { MeshError } from './errors.ts';

/**
 * Framing: every blob on a connection is written as a 4-byte big-endian length followed by exactly that many bytes.
 * An over-long length is a violation that closes the connection; what the bytes mean is the codec's business.
 */
export const PREFIX_BYTES = 4;

/** `blob` with its length prefix, as one buffer: one write, one packet on the wire where it fits. */
export function frameOf(blob: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + blob.length);
  frame.writeUInt32BE(blob.length, 0);
  frame.set(blob, PREFIX_BYTES);
  return frame;
}

/** Complete frames that lie side by side in one buffer, with their prefixes. Frame i is `bytes[ends[i-1] .. ends[i])`. */
export interface FrameRun {
  readonly bytes: Buffer;
  readonly ends: readonly number[];
}

/** The blobs of a run, without prefixes; views, not copies. */
export function* blobsOf(run: FrameRun): Generator<Buffer> {
  let start = 0;
  for (const end of run.ends) {
    yield run.bytes.subarray(start + PREFIX_BYTES, end);
    start = end;
  }
}

/** What the receiver of a run did with its bytes: `kept` means that somebody still refers to them. */
export type RunUse = 'done' | 'kept';

const SLAB_BYTES = 256 * 1024;
/** With less room than this at a slab's end the rest moves to a fresh one: small reads cost a system call each. */
const MIN_READ_BYTES = 16 * 1024;

/**
 * Finds frames in a stream. The bytes are read straight into a slab ({@link space}, then {@link received}), so that
 * complete frames are contiguous and can be forwarded as one slice, untouched (MP-12).
 *
 * A slab is written again only if no receiver kept a run of it; otherwise it is left to the collector.
 * Memory: one slab, or for a frame beyond it a buffer that grows with the bytes that really came, so that a length
 * alone, however large, takes no memory.
 */
export class FrameReader {
  readonly #onRun: (run: FrameRun) => RunUse;
  #maxFrameBytes: number;
  #slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
  #start = 0;
  #end = 0;
  #kept = false;

  constructor(maxFrameBytes: number, onRun: (run: FrameRun) => RunUse) {
    this.#maxFrameBytes = maxFrameBytes;
    this.#onRun = onRun;
  }

  /** A longer frame is a violation. Raised when the handshake has ended. */
  set maxFrameBytes(bytes: number) {
    this.#maxFrameBytes = bytes;
  }

  /** Bytes of a frame that has begun and not ended. Not 0 at the end of a stream: the frame is torn. */
  get pendingBytes(): number {
    return this.#end - this.#start;
  }

  /** Where the next bytes go; never empty. */
  space(): Buffer {
    return this.#slab.subarray(this.#end);
  }

  /**
   * `count` bytes were written to the start of {@link space}. Calls `onRun` with all frames that are complete now.
   *
   * @throws MeshError `frame` for a length above the maximum; the reader must not be used after it
   */
  received(count: number): void {
    this.#end += count;
    const ends: number[] = [];
    const runStart = this.#start;
    let at = runStart;
    let fault: MeshError | undefined;
    while (this.#end - at >= PREFIX_BYTES) {
      const length = this.#slab.readUInt32BE(at);
      if (length > this.#maxFrameBytes) {
        fault = new MeshError(
          'frame',
          `frame of ${length} bytes: at most ${this.#maxFrameBytes} are allowed here (is the other end speaking this protocol?)`,
        );
        break;
      }
      const frameEnd = at + PREFIX_BYTES + length;
      if (frameEnd > this.#end) break;
      at = frameEnd;
      ends.push(at - runStart);
    }
    this.#start = at;
    // The frames before a violation were whole: they are delivered before the connection ends.
    if (ends.length > 0 && this.#onRun({ bytes: this.#slab.subarray(runStart, at), ends }) === 'kept') {
      this.#kept = true;
    }
    if (fault !== undefined) throw fault;
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

  #makeRoom(): void {
    const pending = this.#end - this.#start;
    if (pending === 0 && !this.#kept) {
      this.#start = 0;
      this.#end = 0;
      if (this.#slab.length > SLAB_BYTES) this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      return;
    }
    // Doubling: memory follows the bytes that came, not the length that was announced.
    const size = pending > SLAB_BYTES / 2 ? pending * 2 + MIN_READ_BYTES : SLAB_BYTES;
    // A large frame has gone: its memory would be held for as long as little comes.
    const isOutgrown = this.#slab.length > 2 * size;
    if (this.#slab.length - this.#end >= MIN_READ_BYTES && !isOutgrown) return;
    const fits = !this.#kept && !isOutgrown && size <= this.#slab.length;
    const next = fits ? this.#slab : Buffer.allocUnsafeSlow(size);
    this.#slab.copy(next, 0, this.#start, this.#end);
    this.#slab = next;
    this.#start = 0;
    this.#end = pending;
    this.#kept = false;
  }
}
