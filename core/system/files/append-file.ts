import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { MeshError } from '../../contracts/errors.ts';
import { explainWriteFault } from './whole-file.ts';

/** Wait before lines are written together: a system call per line costs more than the line itself. */
const FLUSH_EVERY_MS = 20;
const BUFFER_BYTES = 64 * 1024;
const LINE_END = 0x0a;

/** Files that must still be written when the process exits on its own. */
const unwritten = new Set<() => void>();
process.once('exit', () => {
  for (const flush of unwritten)
    try {
      flush();
    } catch {
      // The disk may be full. The process ends anyway, and commands that need the file have reported the error.
    }
});

interface AppendFileOptions {
  /** Name of the file in messages, such as `log`. */
  readonly what: string;
  /**
   * `each`: lines are in the file when the call returns. `soon`: they are in it within 20 ms, many of them by one
   * system call. All lines survive an exit of the process, and those in the file survive a kill. No call waits
   * for the disk, which would take up to 15 ms while a task's clock runs.
   */
  readonly durability: 'each' | 'soon';
  readonly maxBytes: number;
  /** Builds a last line about the bound. Without it, lines beyond the bound are an error. */
  readonly formatEnding?: (bound: string) => string;
}

/** A file to which whole lines are appended, up to a bound. */
export class AppendFile {
  readonly file: string;
  readonly descriptor: number;
  readonly #options: AppendFileOptions;
  readonly #flush = () => this.flush();
  #waiting: Buffer | undefined;
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #end: number;
  #isFull = false;
  #isClosed = false;

  /**
   * Opens `file` behind its content; only its user may read a new one.
   *
   * @throws MeshError `io` with the file and the obstacle
   */
  constructor(file: string, options: AppendFileOptions) {
    this.file = file;
    this.#options = options;
    try {
      this.descriptor = openSync(file, 'a+', 0o600);
      this.#end = fstatSync(this.descriptor).size;
    } catch (error) {
      throw this.#createError(explainWriteFault(error), error);
    }
    if (options.durability === 'soon') unwritten.add(this.#flush);
  }

  /** Bytes of the file, with those that are not written yet. */
  get end(): number {
    return this.#end;
  }

  /** True if further lines are kept. */
  get isOpen(): boolean {
    return !this.#isFull && !this.#isClosed;
  }

  /**
   * Appends whole lines, whose bytes may be overwritten afterwards. Of lines that go beyond the bound the first
   * ones are kept, as far as there is room.
   *
   * @throws MeshError `io` if they cannot be written, or the file is full and has no ending
   */
  append(lines: Uint8Array): void {
    if (!this.isOpen) return;
    const { maxBytes, formatEnding } = this.#options;
    const room = maxBytes - this.#end;
    if (lines.length <= room) {
      this.#keep(lines);
      return;
    }
    const bound = `${maxBytes} bytes`;
    if (formatEnding === undefined) throw this.#createError(`it has room for ${bound}, which are used up`);
    if (room > 0) this.#keep(lines.subarray(0, lines.subarray(0, room).lastIndexOf(LINE_END) + 1));
    this.#isFull = true;
    this.#keep(Buffer.from(formatEnding(bound)));
  }

  /** Writes all lines so far to the file before it returns. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const bytes = this.#waitingBytes;
    this.#waitingBytes = 0;
    if (this.#waiting !== undefined && bytes > 0 && !this.#isClosed)
      this.#write(this.#waiting.subarray(0, bytes));
  }

  /** Discards everything from byte `end` on. */
  truncate(end: number): void {
    if (this.#isClosed) return;
    this.flush();
    // The file is open for appending, so the next line follows there.
    ftruncateSync(this.descriptor, end);
    this.#end = end;
    this.#isFull = false;
  }

  /** Closes the file; later lines are discarded. It may be called twice, as by a second Ctrl-C. */
  close(): void {
    if (this.#isClosed) return;
    this.flush();
    this.#isClosed = true;
    unwritten.delete(this.#flush);
    closeSync(this.descriptor);
  }

  #keep(lines: Uint8Array): void {
    this.#end += lines.length;
    if (this.#options.durability === 'each') {
      this.#write(lines);
      return;
    }
    this.#waiting ??= Buffer.allocUnsafeSlow(BUFFER_BYTES);
    if (this.#waitingBytes + lines.length > BUFFER_BYTES) this.flush();
    if (lines.length > BUFFER_BYTES) {
      this.#write(lines);
      return;
    }
    this.#waiting.set(lines, this.#waitingBytes);
    this.#waitingBytes += lines.length;
    this.#timer ??= setTimeout(this.#flush, FLUSH_EVERY_MS).unref();
  }

  #write(bytes: Uint8Array): void {
    try {
      for (let from = 0; from < bytes.length; ) from += writeSync(this.descriptor, bytes, from);
    } catch (error) {
      throw this.#createError(explainWriteFault(error), error);
    }
  }

  #createError(fault: string, cause?: unknown): MeshError {
    return new MeshError('io', `${this.#options.what} ${this.file} cannot be written: ${fault}`, { cause });
  }
}
