import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import pino from 'pino';
import { MAX_LOG_BYTES } from '../contracts/limits.ts';
import { makeFolder } from './files/make-folder.ts';

/** Wait before lines are written together: a system call per line costs more than the line itself. */
const FLUSH_EVERY_MS = 20;
const FLUSH_BYTES = 64 * 1024;
const LINE_END = 0x0a;

/** Logs that must still be written when the process exits on its own. */
const unwritten = new Set<() => void>();
process.once('exit', () => {
  for (const flush of unwritten)
    try {
      flush();
    } catch {
      // The disk may be full; the process ends, and has said so if a command depends on the log.
    }
});

/** A log of JSON lines; each call writes one line with the fields of `entry`. */
export interface Log {
  /** Logs an event; `timeMs` (milliseconds since 1970) is its time if that is not now. */
  info(entry: object, timeMs?: number): void;
  /** Logs that something was refused, lost or cut. */
  warn(entry: object): void;
  /** Appends whole lines as they are. The bytes may be overwritten afterwards. */
  readonly append: (lines: Uint8Array) => void;
  /** True if further lines are kept: the log is not closed and has not reached its bound. */
  readonly isOpen: boolean;
  /** Writes all lines so far to the file before it returns. */
  flush(): void;
  /** Discards all lines so far. */
  restart(): void;
  close(): void;
}

/**
 * Opens `file` for appending, one JSON object per line, each with `time` in milliseconds since 1970
 * (fractional, so that the logs of several processes merge in order). Warnings are on disk when the call
 * returns, other lines within 20 ms; a process that is killed loses no more than that. Past `maxBytes` one
 * last line reports that the rest was cut.
 */
export function openLog(file: string, maxBytes = MAX_LOG_BYTES): Log {
  makeFolder(path.dirname(file));
  const descriptor = openSync(file, 'a', 0o600);
  // Pino's own destination is not used: its flush waits for the disk (fsync), up to 15 ms while a task's
  // clock runs.
  const waiting = Buffer.allocUnsafe(FLUSH_BYTES);
  let waitingBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const put = (all: Uint8Array) => {
    for (let from = 0; from < all.length; ) from += writeSync(descriptor, all, from);
  };
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    put(waiting.subarray(0, waitingBytes));
    waitingBytes = 0;
  };
  unwritten.add(flush);
  let bytes = 0;
  let isOpen = true;
  let isClosed = false;
  let happenedMs: number | undefined;
  const keep = (lines: Uint8Array) => {
    if (waitingBytes + lines.length > FLUSH_BYTES) flush();
    if (lines.length > FLUSH_BYTES) {
      put(lines);
      return;
    }
    waiting.set(lines, waitingBytes);
    waitingBytes += lines.length;
    timer ??= setTimeout(flush, FLUSH_EVERY_MS).unref();
  };
  const append = (lines: Uint8Array) => {
    if (!isOpen) return;
    const room = maxBytes - bytes;
    const kept = lines.length <= room ? lines : keepWholeLines(lines.subarray(0, room));
    bytes += lines.length;
    isOpen = bytes <= maxBytes;
    keep(kept);
    if (isOpen) return;
    const cut = `the log reached ${maxBytes} bytes; what follows is not kept`;
    keep(Buffer.from(`${JSON.stringify({ level: 'warn', time: Number(readEpochMs().toFixed(3)), cut })}\n`));
  };
  const write = (line: string) => append(Buffer.from(line));
  const logger = pino(
    {
      base: null,
      timestamp: () => `,"time":${(happenedMs ?? readEpochMs()).toFixed(3)}`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write },
  );
  return {
    info(entry, timeMs) {
      happenedMs = timeMs;
      logger.info(entry);
      happenedMs = undefined;
    },
    warn(entry) {
      logger.warn(entry);
      if (!isClosed) flush();
    },
    append,
    get isOpen() {
      return isOpen;
    },
    flush() {
      if (!isClosed) flush();
    },
    restart() {
      if (isClosed) return;
      waitingBytes = 0;
      // The file is open for appending, so the next line stands at its beginning.
      ftruncateSync(descriptor, 0);
      bytes = 0;
      isOpen = true;
    },
    close() {
      isOpen = false;
      // An impatient second Ctrl-C closes the log twice.
      if (isClosed) return;
      isClosed = true;
      flush();
      unwritten.delete(flush);
      closeSync(descriptor);
    },
  };
}

function keepWholeLines(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, bytes.lastIndexOf(LINE_END) + 1);
}

/**
 * Returns milliseconds since 1970 with microsecond precision, by which the logs of several processes are
 * merged.
 */
export function readEpochMs(): number {
  return performance.timeOrigin + performance.now();
}
