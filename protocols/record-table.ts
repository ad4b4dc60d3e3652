import { type EnvelopeKey, envelopeKeys, optionalKeys } from './head.ts';

/**
 * The structures that `msgpack-records` writes as records, a record being one byte and the values: the keys of an object, in
 * order. A constant: frames are forwarded as they came, so a structure that one connection had learned would mean nothing on
 * the next.
 */

/** One for every choice of optional keys: record number `i` has the optional keys whose bits are set in `i`. */
export const envelopeRecords: readonly (readonly EnvelopeKey[])[] = Array.from(
  { length: 2 ** optionalKeys.length },
  (_, bits) => {
    const absent: readonly EnvelopeKey[] = optionalKeys.filter((_, i) => (bits & (1 << i)) === 0);
    return envelopeKeys.filter((key) => !absent.includes(key));
  },
);

/** The number of the envelope's record for a packet with these keys. */
export function envelopeRecordOf(
  packet: { readonly [K in (typeof optionalKeys)[number]]?: unknown },
): number {
  return optionalKeys.reduce((bits, key, i) => (packet[key] === undefined ? bits : bits | (1 << i)), 0);
}

/** What the agents of the default team say to one another (`tools/payloads.ts`). */
const payloadRecords: readonly (readonly string[])[] = [
  ['question', 'chunks'],
  ['question', 'passages'],
  ['first', 'last', 'text'],
  ['first', 'last', 'heading', 'text'],
  ['question', 'events'],
  ['chunk', 'text', 'score'],
  ['chunk', 'heading', 'text', 'score'],
  ['question', 'sentences', 'triples'],
  ['subject', 'relation', 'object', 'sentence', 'start', 'scores'],
  ['answer'],
];

/** At most 32: msgpackr takes a second byte for more. */
export const recordTable: readonly (readonly string[])[] = [...envelopeRecords, ...payloadRecords];

const tableByFirstKey = Map.groupBy(recordTable, (keys) => keys[0]);

/** Whether `object` has the keys of a record, in its order. */
export function isRecord(object: object): boolean {
  const keys = Object.keys(object);
  const records = tableByFirstKey.get(keys[0]);
  return (
    records?.some((record) => record.length === keys.length && record.every((key, i) => key === keys[i])) ??
    false
  );
}
