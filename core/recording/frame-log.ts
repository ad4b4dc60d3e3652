import { closeSync, createReadStream, openSync, write } from 'node:fs';
import type { Batch } from '../hub/batch.ts';
import type { Link } from '../hub/link.ts';
import { PREFIX_BYTES } from '../wire/frame.ts';

/** Maximum recorded bytes of a run; the recording ends there. */
export const MAX_RECORDED_BYTES = 256 * 1024 * 1024;
/** Size of the buffers in which bytes wait for the disk. */
const BUFFER_BYTES = 1024 * 1024;
/** Maximum waiting buffers: more than the largest frame fills, and some 200 ms of the fastest relay. */
const MAX_BUFFERS = 96;
/** Buffers that are kept for reuse: as many as a disk that keeps up needs. */
const MAX_FREE_BUFFERS = 4;
/**
 * Header of a batch: its bytes (4), the sender's number (2), then the times of arrival and forwarding as
 * doubles.
 */
const BATCH_HEADER_BYTES = 4 + 2 + 8 + 8;

/** A recorded frame with its sender and times. */
interface LoggedFrame {
  readonly sender: Link;
  /** Copy of the frame without its length prefix. */
  readonly blob: Buffer;
  readonly arrivedUs: number;
  readonly forwardedUs: number;
}

/**
 * Logs the frames that a hub relayed, unchanged, in a file. Bytes are copied into buffers and written behind
 * the relay, which never waits for the disk: if too many buffers wait or the file is full, the log ends there
 * and reports the reason.
 */
export class FrameLog {
  readonly #file: string;
  readonly #maxBytes: number;
  readonly #senders: Link[] = [];
  readonly #numbers = new Map<Link, number>();
  readonly #header = Buffer.allocUnsafe(BATCH_HEADER_BYTES);
  readonly #free: Buffer[] = [];
  #descriptor: number | undefined;
  #current: Buffer | undefined;
  #used = 0;
  #bytes = 0;
  #written = 0;
  #pending = 0;
  #drained: (() => void) | undefined;
  /** Offset up to which the file was written correctly. */
  #sound = Number.POSITIVE_INFINITY;
  #packets = 0;
  #cut: string | undefined;
  #isClosed = false;

  constructor(file: string, maxBytes = MAX_RECORDED_BYTES) {
    this.#file = file;
    this.#maxBytes = maxBytes;
  }

  /** Number of relayed packets, including those that the log lacks. */
  get packets(): number {
    return this.#packets;
  }

  /** Reason why the log ends before the run. */
  get cut(): string | undefined {
    return this.#cut;
  }

  add({ sender, slab, start, end, size, arrivedUs, forwardedUs }: Batch): void {
    this.#packets += size;
    if (this.#isClosed) this.#cut ??= 'they came after the run had ended';
    if (this.#cut !== undefined) return;
    const bytes = BATCH_HEADER_BYTES + end - start;
    if (this.#bytes + bytes > this.#maxBytes) {
      this.#cut = `the recording has room for ${this.#maxBytes} bytes`;
      return;
    }
    if (!this.#hasRoom(bytes)) {
      this.#cut = 'the disk took bytes more slowly than they were relayed';
      return;
    }
    let number = this.#numbers.get(sender);
    if (number === undefined) {
      number = this.#senders.push(sender) - 1;
      this.#numbers.set(sender, number);
    }
    this.#header.writeUInt32LE(end - start, 0);
    this.#header.writeUInt16LE(number, 4);
    this.#header.writeDoubleLE(arrivedUs, 6);
    this.#header.writeDoubleLE(forwardedUs, 14);
    this.#put(this.#header);
    this.#put(slab.bytes.subarray(start, end));
    this.#bytes += bytes;
  }

  /** Closes the log; everything is in the file when this settles, and nothing is logged afterwards. */
  async close(): Promise<void> {
    this.#flush();
    this.#isClosed = true;
    if (this.#pending > 0) {
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
    }
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    this.#free.length = 0;
  }

  /** Yields the frames in order of arrival. Call it after closing the log; it may be called repeatedly. */
  async *frames(): AsyncGenerator<LoggedFrame> {
    const end = Math.min(this.#written, this.#sound) - 1;
    if (end < 0) return;
    // Parts of a frame that spans many reads are joined only once.
    let parts: Buffer[] = [];
    let partBytes = 0;
    let neededBytes = 0;
    let batch: (Omit<LoggedFrame, 'blob'> & { left: number }) | undefined;
    for await (const chunk of createReadStream(this.#file, { end, highWaterMark: BUFFER_BYTES })) {
      parts.push(chunk);
      partBytes += chunk.length;
      if (partBytes < neededBytes) continue;
      const bytes: Buffer = parts.length === 1 ? chunk : Buffer.concat(parts);
      neededBytes = 0;
      let at = 0;
      for (;;) {
        if (batch === undefined || batch.left === 0) {
          if (bytes.length - at < BATCH_HEADER_BYTES) break;
          const sender = this.#senders[bytes.readUInt16LE(at + 4)];
          if (sender === undefined) throw new Error(`${this.#file}: byte ${at}: no such sender`);
          batch = {
            sender,
            left: bytes.readUInt32LE(at),
            arrivedUs: bytes.readDoubleLE(at + 6),
            forwardedUs: bytes.readDoubleLE(at + 14),
          };
          at += BATCH_HEADER_BYTES;
        }
        if (bytes.length - at < PREFIX_BYTES) break;
        const frameBytes = PREFIX_BYTES + bytes.readUInt32BE(at);
        if (bytes.length - at < frameBytes) {
          neededBytes = frameBytes;
          break;
        }
        const { sender, arrivedUs, forwardedUs } = batch;
        yield {
          sender,
          arrivedUs,
          forwardedUs,
          blob: Buffer.from(bytes.subarray(at + PREFIX_BYTES, at + frameBytes)),
        };
        batch.left -= frameBytes;
        at += frameBytes;
      }
      parts = [Buffer.from(bytes.subarray(at))];
      partBytes = bytes.length - at;
    }
  }

  #hasRoom(bytes: number): boolean {
    const inCurrent = this.#current === undefined ? 0 : BUFFER_BYTES - this.#used;
    const others = MAX_BUFFERS - this.#pending - (this.#current === undefined ? 0 : 1);
    return bytes <= inCurrent + others * BUFFER_BYTES;
  }

  #put(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; ) {
      this.#current ??= this.#free.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
      const count = Math.min(bytes.length - from, BUFFER_BYTES - this.#used);
      this.#current.set(bytes.subarray(from, from + count), this.#used);
      this.#used += count;
      from += count;
      if (this.#used === BUFFER_BYTES) this.#flush();
    }
  }

  #flush(): void {
    const buffer = this.#current;
    if (buffer === undefined || this.#used === 0) return;
    const bytes = this.#used;
    this.#current = undefined;
    this.#used = 0;
    this.#write(buffer, bytes);
  }

  #write(buffer: Buffer, bytes: number): void {
    const position = this.#written;
    this.#written += bytes;
    this.#pending += 1;
    const done = (error: NodeJS.ErrnoException | null) => {
      if (error !== null) {
        this.#cut ??= `it could not be written: ${error.message}`;
        this.#sound = Math.min(this.#sound, position);
      }
      if (this.#free.length < MAX_FREE_BUFFERS) this.#free.push(buffer);
      this.#pending -= 1;
      if (this.#pending === 0) this.#drained?.();
    };
    const writeFrom = (descriptor: number, offset: number) => {
      write(descriptor, buffer, offset, bytes - offset, position + offset, (error, count) => {
        if (error === null && offset + count < bytes) writeFrom(descriptor, offset + count);
        else done(error);
      });
    };
    try {
      this.#descriptor ??= openSync(this.#file, 'w', 0o600);
      writeFrom(this.#descriptor, 0);
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
