import path from 'node:path';
import { MAX_LOG_BYTES } from '../contracts/limits.ts';
import { AppendFile } from './files/append-file.ts';
import { makeFolder } from './files/make-folder.ts';

/**
 * A log of JSON lines, one object per line, each with `time` in milliseconds since 1970 (fractional, so that the
 * logs of several processes merge in order). Past its bound one last line reports that the rest was cut.
 */
export class Log {
  readonly #target: AppendFile;

  /**
   * Opens `file` for appending.
   *
   * @throws MeshError `io`
   */
  constructor(
    file: string,
    {
      durability = 'soon',
      maxBytes = MAX_LOG_BYTES,
    }: { readonly durability?: 'each' | 'soon'; readonly maxBytes?: number } = {},
  ) {
    makeFolder(path.dirname(file));
    this.#target = new AppendFile(file, {
      what: 'log',
      durability,
      maxBytes,
      formatEnding: (bound) =>
        formatEntry('warn', { event: 'cut', cut: `the log reached ${bound}; what follows is not kept` }),
    });
  }

  /** Logs an event; `timeMs` (milliseconds since 1970) is its time if that is not now. */
  info(entry: object, timeMs?: number): void {
    this.append(Buffer.from(formatEntry('info', entry, timeMs)));
  }

  /** Logs that something was refused, lost or cut; the line is in the file when the call returns. */
  warn(entry: object, timeMs?: number): void {
    this.append(Buffer.from(formatEntry('warn', entry, timeMs)));
    this.#target.flush();
  }

  /** Appends whole lines as they are. The bytes may be overwritten afterwards. */
  append(lines: Uint8Array): void {
    this.#target.append(lines);
  }

  /** True if further lines are kept: the log is not closed and has not reached its bound. */
  get isOpen(): boolean {
    return this.#target.isOpen;
  }

  /** Discards all lines so far. */
  restart(): void {
    this.#target.truncate(0);
  }

  close(): void {
    this.#target.close();
  }
}

function formatEntry(level: 'info' | 'warn', entry: object, timeMs = readEpochMs()): string {
  return `${JSON.stringify({ level, time: Number(timeMs.toFixed(3)), ...entry })}\n`;
}

/**
 * Returns milliseconds since 1970 with microsecond precision, by which the logs of several processes are
 * merged.
 */
export function readEpochMs(): number {
  return performance.timeOrigin + performance.now();
}
