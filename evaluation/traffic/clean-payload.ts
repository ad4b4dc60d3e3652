import { MAX_PAYLOAD_DEPTH } from '../../core/contracts/limits.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/contracts/packet.ts';
import type { ImportNotes } from './message.ts';

/** `value` as the payload of a packet. What no packet can hold is replaced, and counted in `notes`. */
export function cleanPayload(value: unknown, notes: ImportNotes): JsonObject {
  const clean = cleaned(value, 1, notes);
  if (isJsonObject(clean)) return clean;
  return { value: cleaned(value, 2, notes) };
}

function cleaned(value: unknown, depth: number, notes: ImportNotes): JsonValue {
  switch (typeof value) {
    case 'string':
      if (value.isWellFormed()) return value;
      notes.drop(
        'half a character in a text: replaced by U+FFFD',
        'texts with half a character (#): replaced by U+FFFD',
      );
      return value.toWellFormed();
    case 'number':
      if (Number.isFinite(value)) return value;
      notes.drop(
        'a number that is too large for a double: null',
        '# numbers that are too large for a double: null',
      );
      return null;
    case 'boolean':
      return value;
    case 'object':
      break;
    default:
      return null;
  }
  if (value === null) return null;
  if (depth > MAX_PAYLOAD_DEPTH) {
    notes.drop(
      `a value nested deeper than ${MAX_PAYLOAD_DEPTH}: null`,
      `# values nested deeper than ${MAX_PAYLOAD_DEPTH}: null`,
    );
    return null;
  }
  if (Array.isArray(value)) return value.map((item) => cleaned(item, depth + 1, notes));
  const entries: [string, JsonValue][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') notes.drop('a key __proto__', '# keys __proto__');
    else entries.push([key.toWellFormed(), cleaned(item, depth + 1, notes)]);
  }
  return Object.fromEntries(entries);
}
