import path from 'node:path';
import { MAX_LOG_BYTES } from '../contracts/limits.ts';
import { AppendFile } from './files/append-file.ts';
import { makeFolder } from './files/make-folder.ts';

/** A log of JSON lines; each call writes one line with the fields of `entry`. */
export interface Log {
  /** Logs an event; `timeMs` (milliseconds since 1970) is its time if that is not now. */
  info(entry: object, timeMs?: number): void;
  /** Logs that something was refused, lost or cut; the line is in the file when the call returns. */
  warn(entry: object, timeMs?: number): void;
  /** Appends whole lines as they are. The bytes may be overwritten afterwards. */
  readonly append: (lines: Uint8Array) => void;
  /** True if further lines are kept: the log is not closed and has not reached its bound. */
  readonly isOpen: boolean;
  /** Discards all lines so far. */
  restart(): void;
  close(): void;
}

/**
 * Opens `file` for appending, one JSON object per line, each with `time` in milliseconds since 1970
 * (fractional, so that the logs of several processes merge in order). Past `maxBytes` one last line reports
 * that the rest was cut.
 *
 * @throws MeshError `io`
 */
export function openLog(
  file: string,
  {
    durability = 'soon',
    maxBytes = MAX_LOG_BYTES,
  }: { readonly durability?: 'each' | 'soon'; readonly maxBytes?: number } = {},
): Log {
  makeFolder(path.dirname(file));
  const target = new AppendFile(file, {
    what: 'log',
    durability,
    maxBytes,
    formatEnding: (bound) =>
      formatEntry('warn', { event: 'cut', cut: `the log reached ${bound}; what follows is not kept` }),
  });
  const append = (lines: Uint8Array) => target.append(lines);
  return {
    info: (entry, timeMs) => append(Buffer.from(formatEntry('info', entry, timeMs))),
    warn(entry, timeMs) {
      append(Buffer.from(formatEntry('warn', entry, timeMs)));
      target.flush();
    },
    append,
    get isOpen() {
      return target.isOpen;
    },
    restart: () => target.truncate(0),
    close: () => target.close(),
  };
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
