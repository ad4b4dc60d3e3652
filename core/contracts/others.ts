import { MAX_PACKET_TYPES } from './limits.ts';

/** Key that sums everything beyond a bound; no tool uses such a name. */
export const OTHERS = '(others)';

/**
 * Returns the entry of `key`, creating it with `make` if it is missing. Agents choose packet types and may
 * invent any number of them: beyond {@link MAX_PACKET_TYPES} new types share the entry {@link OTHERS}, so
 * that every packet is counted in bounded memory.
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
