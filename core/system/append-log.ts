import { closeSync, fstatSync, readSync } from 'node:fs';
import type * as z from 'zod';
import { MeshError, toErrorMessage } from '../contracts/errors.ts';
import { MAX_LINE_BYTES } from '../contracts/limits.ts';
import { AppendFile } from './files/append-file.ts';
import { readByteLines } from './files/byte-lines.ts';
import { openUserFile } from './files/user-file.ts';
import { writeWhole } from './files/whole-file.ts';
import { parseJsonLine } from './json-line.ts';

/**
 * Bounds of a log of records, such as the journal of a batch. The file is never in memory as a whole, but the
 * place of each record is: a million of them take some 200 MB. The largest batches have a tenth of that.
 */
const LIMITS = { bytes: 64 * 1024 * 1024 * 1024, lines: 1_000_000 } as const;

/** The kind of a file of records; `Head` is the type of its first line, if that line is not a record. */
interface RecordKind<T, Head = never> {
  /** Its name in messages, such as `journal of a batch`. */
  readonly what: string;
  readonly schema: z.ZodType<T>;
  readonly head?: z.ZodType<Head>;
  /** Advice for the user if a record is damaged, as the end of a sentence. */
  readonly advice?: string;
  /** Bounds for tests. */
  readonly maxBytes?: number;
  readonly maxLines?: number;
}

/** The place of a record in its file, with its line feed. */
export interface RecordPlace {
  readonly at: number;
  readonly bytes: number;
}

interface PlacedRecord<T> extends RecordPlace {
  readonly value: T;
}

/** Receives the records of a file in order. */
type Receive<T> = (record: PlacedRecord<T>) => void;

/**
 * Records in a file, one JSON line each. A record is appended in one write, so that a killed writer leaves at most one torn line,
 * the last one; after a power failure the last line may be nonsense. Such a line is reported and does not count as a record, but
 * damage before it is an error. Records are read again by their places, so that a file may be larger than memory.
 */
export class RecordReader<T, Head = never> {
  readonly file: string;
  protected readonly kind: RecordKind<T, Head>;
  /** The end of the last whole line. */
  protected end = 0;
  protected lines = 0;
  readonly #descriptor: number;
  #head: Head | undefined;
  #torn: string | undefined;

  protected constructor(file: string, descriptor: number, kind: RecordKind<T, Head>) {
    this.file = file;
    this.kind = kind;
    this.#descriptor = descriptor;
  }

  /**
   * Opens a file that another process may be writing, and leaves it as it is.
   *
   * @throws MeshError `usage` if it cannot be opened, `store` if a record is damaged, and what `receive` throws
   */
  static open<T, Head = never>(
    file: string,
    kind: RecordKind<T, Head>,
    receive: Receive<T>,
  ): RecordReader<T, Head> {
    const descriptor = openUserFile(file, { what: kind.what, code: 'usage' });
    return new RecordReader(file, descriptor, kind).load(receive);
  }

  /** The first line, if the kind has a head and the file is not empty. */
  get head(): Head | undefined {
    return this.#head;
  }

  /** Position of the last line for messages, if it is not whole. */
  get torn(): string | undefined {
    return this.#torn;
  }

  /** Reads a record again. */
  read({ at, bytes }: RecordPlace): T {
    const line = Buffer.allocUnsafe(bytes);
    for (let filled = 0; filled < bytes; ) {
      const read = readSync(this.#descriptor, line, filled, bytes - filled, at + filled);
      if (read === 0) break;
      filled += read;
    }
    return parseJsonLine(line.toString('utf8'), this.kind.schema, this.file);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** Reads all records; closes the file if one is damaged. */
  protected load(receive: Receive<T>): this {
    try {
      this.#readAll(receive);
      return this;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #readAll(receive: Receive<T>): void {
    const { what, schema, head, maxLines = LIMITS.lines } = this.kind;
    // The file may grow while it is read.
    const { size } = fstatSync(this.#descriptor);
    const lines = readByteLines(this.#descriptor, {
      maxBytes: MAX_LINE_BYTES,
      tooLong: (number) => this.#createDamageError(number, `it is longer than ${MAX_LINE_BYTES} bytes`),
      end: size,
    });
    for (const { bytes: line, at, number, isWhole } of lines) {
      const text = line.toString('utf8');
      const where = `${this.file}:${number}`;
      if (!isWhole) {
        this.#torn = where;
        return;
      }
      if (number > maxLines) throw this.#createDamageError(number, `a ${what} has at most ${maxLines} lines`);
      const bytes = line.length + 1;
      let value: T | undefined;
      try {
        if (number === 1 && head !== undefined) this.#head = parseJsonLine(text, head, where);
        else value = parseJsonLine(text, schema, where);
      } catch (error) {
        if (number === 1 || at + bytes < size)
          throw this.#createDamageError(number, toErrorMessage(error), error);
        this.#torn = where;
        return;
      }
      if (value !== undefined) receive({ value, at, bytes });
      this.end = at + bytes;
      this.lines = number;
    }
  }

  #createDamageError(number: number, fault: string, cause?: unknown): MeshError {
    const { what, advice = '' } = this.kind;
    const where = `${this.file}:${number}`;
    const message =
      number === 1
        ? `${where}: this is not the ${what}, and is left unchanged: ${fault}`
        : `the ${what} is damaged at ${where} (${fault}): repair or delete that line${advice}`;
    return new MeshError('store', message, { cause });
  }
}

/** Records in a file that this process appends to. */
export class AppendLog<T, Head = never> extends RecordReader<T, Head> {
  readonly #target: AppendFile;

  private constructor(file: string, kind: RecordKind<T, Head>) {
    const { what, maxBytes = LIMITS.bytes } = kind;
    const target = new AppendFile(file, { what, durability: 'each', maxBytes });
    super(file, target.descriptor, kind);
    this.#target = target;
  }

  /**
   * Begins a file anew with `values`: a reader sees the old file or the new one.
   *
   * @throws MeshError `io`
   */
  static create<T, Head = never>(
    file: string,
    kind: RecordKind<T, Head>,
    values: Iterable<T | Head> = [],
  ): AppendLog<T, Head> {
    const lines = Array.from(values, (value) => `${JSON.stringify(value)}\n`);
    writeWhole(file, lines.join(''));
    const log = new AppendLog(file, kind);
    log.end = log.#target.end;
    log.lines = lines.length;
    return log;
  }

  /**
   * Opens a file to append to it, and passes its records to `receive`. The file changes with the first record
   * that is appended, which takes the place of a torn line.
   *
   * @throws MeshError `io`, `store` if a record is damaged, and what `receive` throws
   */
  static override open<T, Head = never>(
    file: string,
    kind: RecordKind<T, Head>,
    receive: Receive<T>,
  ): AppendLog<T, Head> {
    return new AppendLog(file, kind).load(receive);
  }

  /**
   * Appends a record. It is in the file when the call returns, and survives the end of this process.
   *
   * @throws MeshError `io` if the disk or the log is full
   */
  append(value: T): RecordPlace {
    const { what, maxLines = LIMITS.lines } = this.kind;
    if (this.lines >= maxLines)
      throw new MeshError(
        'io',
        `${what} ${this.file} cannot be written: it has ${maxLines} lines, its bound`,
      );
    if (this.#target.end > this.end) this.#target.truncate(this.end);
    const line = Buffer.from(`${JSON.stringify(value)}\n`);
    const place = { at: this.end, bytes: line.length };
    this.#target.append(line);
    this.end += line.length;
    this.lines += 1;
    return place;
  }

  /** Forgets a record and all that follow it, so that `left` lines remain. */
  forgetFrom({ at }: Pick<RecordPlace, 'at'>, left: number): void {
    this.end = at;
    this.lines = left;
  }

  override close(): void {
    this.#target.close();
  }
}
