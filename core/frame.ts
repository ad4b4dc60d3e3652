import { MeshError } from './errors.ts';
import { SLAB_BYTES, type Slab, slabs } from './slab.ts';

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
  /** What the bytes lie in: held, they stay as they are beyond the receiver's call. */
  readonly slab: Slab;
}

/** The blobs of a run, without prefixes; views, not copies. */
export function* blobsOf(run: Pick<FrameRun, 'bytes' | 'ends'>): Generator<Buffer> {
  let start = 0;
  for (const end of run.ends) {
    yield run.bytes.subarray(start + PREFIX_BYTES, end);
    start = end;
  }
}

/**
 * What the receiver of a run did with its bytes: `kept` means that somebody still refers to them, who will not say when that
 * is over. Who holds the run's slab is `done`.
 */
export type RunUse = 'done' | 'kept';

/** With less room than this at a slab's end the rest moves to a fresh one: small reads cost a system call each. */
const MIN_READ_BYTES = 16 * 1024;

/**
 * Finds frames in a stream. The bytes are read straight into a slab ({@link space}, then {@link received}), so that
 * complete frames are contiguous and can be forwarded as one slice, untouched (MP-12).
 *
 * A slab is written again only if nobody holds it; one that a receiver has kept is left to the collector.
 * Memory: one slab, or for a frame beyond it a buffer that grows with the bytes that really came, so that a length
 * alone, however large, takes no memory.
 */
export class FrameReader {
  readonly #onRun: (run: FrameRun) => RunUse;
  #maxFrameBytes: number;
  #slab = slabs.take();
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
    return this.#slab.bytes.subarray(this.#end);
  }

  /** Nothing comes any more. */
  end(): void {
    if (!this.#kept) this.#slab.release();
    this.#kept = true;
  }

  /**
   * `count` bytes were written to the start of {@link space}. Calls `onRun` with all frames that are complete now.
   *
   * @throws MeshError `frame` for a length above the maximum; the reader must not be used after it
   */
  received(count: number): void {
    this.#end += count;
    const ends: number[] = [];
    const { bytes } = this.#slab;
    const runStart = this.#start;
    const end = this.#end;
    let at = runStart;
    let fault: MeshError | undefined;
    while (end - at >= PREFIX_BYTES) {
      const length = bytes.readUInt32BE(at);
      if (length > this.#maxFrameBytes) {
        fault = new MeshError(
          'frame',
          `frame of ${length} bytes: at most ${this.#maxFrameBytes} are allowed here (is the other end speaking this protocol?)`,
        );
        break;
      }
      const frameEnd = at + PREFIX_BYTES + length;
      if (frameEnd > end) break;
      at = frameEnd;
      ends.push(at - runStart);
    }
    this.#start = at;
    // The frames before a violation were whole: they are delivered before the connection ends.
    if (ends.length > 0) {
      const run = { bytes: bytes.subarray(runStart, at), ends, slab: this.#slab };
      if (this.#onRun(run) === 'kept') this.#kept = true;
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
    const held = this.#slab.bytes.length;
    const isFree = !this.#kept && this.#slab.isUnshared;
    if (isFree && held === SLAB_BYTES && pending <= MIN_READ_BYTES) {
      // The next read may then fill the whole slab: a few bytes moved spare calls of the system.
      this.#slab.bytes.copyWithin(0, this.#start, this.#end);
      this.#start = 0;
      this.#end = pending;
      return;
    }
    // Doubling: memory follows the bytes that came, not the length that was announced.
    const size = pending > SLAB_BYTES / 2 ? pending * 2 + MIN_READ_BYTES : SLAB_BYTES;
    // A large frame has gone: its memory would be held for as long as little comes.
    const isOutgrown = held > 2 * size || (pending === 0 && held > SLAB_BYTES);
    if (held - this.#end >= MIN_READ_BYTES && !isOutgrown) return;
    const next = isFree && !isOutgrown && size <= held ? this.#slab : slabs.take(size);
    this.#slab.bytes.copy(next.bytes, 0, this.#start, this.#end);
    if (next !== this.#slab && !this.#kept) this.#slab.release();
    this.#slab = next;
    this.#start = 0;
    this.#end = pending;
    this.#kept = false;
  }
}
