import { isJsonObject, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { parseExactJson } from '@gaia-mesh/core/system/parse-json.ts';

/** These functions find values under the many names that logs give them, and check each value that they find. */

/** Returns `value` if it is an object. */
export function toObject(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns `value` if it is a text that is not empty. */
export function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function toCount(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined;
}

/** Returns the first text of `object` under one of `keys`. */
export function findText(object: JsonObject, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const text = toText(object[key]);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Receives the parts of a text that its value cannot hold: numbers that would be rounded, and repeated keys. */
interface OnLoss {
  readonly number: (digits: string) => void;
  readonly key: (key: string) => void;
}

/**
 * Parses a JSON text of another program. A whole number that a JavaScript number would round becomes a text of its digits, so that
 * two ids stay two.
 *
 * @throws SyntaxError for text that is not JSON
 */
export function parseLogJson(text: string, onLoss?: OnLoss): unknown {
  return parseExactJson(text, {
    // A later step leaves out values that are nested too deep for a packet, and notes them.
    maxDepth: Number.POSITIVE_INFINITY,
    keepNumber(digits) {
      if (!Number.isFinite(Number(digits))) return Number(digits);
      onLoss?.number(digits);
      return digits;
    },
    onSecondKey: (path) => onLoss?.key(String(path.at(-1))),
  });
}

/** Parses a text that holds a JSON object or list, whose large whole numbers become texts; returns any other value unchanged. */
export function unpackJson(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return parseLogJson(value);
  } catch {
    return value;
  }
}

const TIME_KEYS = [
  'timestamp',
  '@timestamp',
  'ts',
  'time',
  'datetime',
  'date',
  'at',
  'start_time',
  'startTime',
  'started_at',
  'started',
  'created_at',
  'createdAt',
  'start',
];

/** Returns the time of a log line in microseconds since 1970. */
export function findTimeUs(object: JsonObject, keys: readonly string[] = TIME_KEYS): number | undefined {
  for (const key of keys) {
    const time = toMicroseconds(object[key]);
    if (time !== undefined) return time;
  }
  return undefined;
}

/**
 * Factors for seconds, milliseconds, microseconds and nanoseconds since 1970. The size of a number tells its unit, since all
 * times lie between 1980 and 2100.
 */
const UNITS = [1e6, 1e3, 1, 1e-3] as const;
const EARLIEST_US = Date.UTC(1980, 0) * 1000;
const LATEST_US = Date.UTC(2100, 0) * 1000;

export function toMicroseconds(value: unknown): number | undefined {
  if (typeof value === 'number' || (typeof value === 'string' && /^\d{9,20}(?:\.\d+)?$/.test(value))) {
    const number = Number(value);
    return UNITS.map((unit) => number * unit).find((us) => us >= EARLIEST_US && us < LATEST_US);
  }
  if (typeof value !== 'string' || value.length > 64) return undefined;
  const ms = Date.parse(value);
  if (Number.isNaN(ms)) return undefined;
  // Date keeps three digits of the fraction.
  const rest = /\.\d{3}(\d{1,3})/.exec(value)?.[1] ?? '';
  return ms * 1000 + Number(rest.padEnd(3, '0') || 0);
}
