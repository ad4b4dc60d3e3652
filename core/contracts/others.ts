import { MAX_PACKET_TYPES } from './limits.ts';

/** Where what is beyond a bound is summed: no name that a tool would take. */
export const OTHERS = '(others)';

/**
 * The entry of `key`, made by `make` where there is none. Agents choose packet types and may invent as many as they like: beyond
 * {@link MAX_PACKET_TYPES} new ones share the entry {@link OTHERS}, so that every packet is counted in bounded memory.
 */
export function findOrAddEntry<Entry>(
  entries: Map<string, Entry>,
  key: string,
  make: (key: string) => Entry,
): Entry {
  const present = entries.get(key);
  if (present !== undefined) return present;
  const kept = entries.size < MAX_PACKET_TYPES ? key : OTHERS;
  const entry = entries.get(kept) ?? make(kept);
  entries.set(kept, entry);
  return entry;
}
