import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { AdapterSession, Codec, ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { HUB_ID, type JsonValue, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { Packr } from 'msgpackr';
import { withLargeIntegers } from './large-integers.ts';
import { MessagePackScanner } from './msgpack.ts';
import { createCodec, createPacketError, type EnvelopeKey, envelopeKeys } from './scan/scanner.ts';

/**
 * MessagePack with msgpackr's private records: an object of a known structure is one byte and its values. The
 * packet itself always is a record; in the payload, structures of the table are records and others stay maps.
 * A reader needs the same table: the hub sends it in the handshake, and agents answer with its hash.
 */
export const msgpackRecords: ProtocolAdapter = {
  name: 'msgpack-records',
  join: ({ self }) => ({ offer: self === HUB_ID ? tableOffer : tableHash, open }),
  open,
};

/** Keys that a packet may omit. */
const OPTIONAL = ['to', 'reply_to', 'tag', 'log_uri'] as const;

/** One record for every choice of optional keys: number `i` has those whose bits are set in `i`. */
const envelopeRecords = Array.from({ length: 2 ** OPTIONAL.length }, (_, bits) => {
  const absent: readonly string[] = OPTIONAL.filter((_key, i) => (bits & (1 << i)) === 0);
  return envelopeKeys.filter((key) => !absent.includes(key));
});

/** Structures that the agents of the default team send each other (`tools/payloads.ts`). */
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

/**
 * The structures that are written as records: the keys of an object, in order. There are at most 32, as
 * msgpackr takes a second byte for more. The table is constant because the hub forwards frames as they came:
 * a structure that one connection had learned would mean nothing on the next.
 */
const recordTable: readonly (readonly string[])[] = [...envelopeRecords, ...payloadRecords];

const tableByFirstKey = Map.groupBy(recordTable, (keys) => keys[0]);

/** Returns true if `object` has the keys of a record, in its order. */
function isRecord(object: object): boolean {
  const keys = Object.keys(object);
  const records = tableByFirstKey.get(keys[0]) ?? [];
  return records.some((record) => record.length === keys.length && record.every((key, i) => key === keys[i]));
}

const tableOffer: JsonValue = recordTable;
const tableHash = createHash('sha256').update(JSON.stringify(recordTable)).digest('hex');

/** @throws MeshError `handshake` when another member of the run has another table */
function open({ offers }: AdapterSession): Codec {
  for (const [node, offer] of offers) {
    if (isDeepStrictEqual(offer, node === HUB_ID ? tableOffer : tableHash)) continue;
    throw new MeshError(
      'handshake',
      `${node} has another table of msgpack-records than this end: another version?`,
    );
  }
  return createCodec({
    encode,
    scan: (blob) => new RecordScanner(blob),
    emptyPayloadBytes: 1,
  });
}

const packr = new Packr({
  // msgpackr writes its own notes into this array.
  structures: recordTable.map((keys) => [...keys]),
  maxSharedStructures: recordTable.length,
  // An object that is not in the table stays a map and never becomes a new structure.
  maxOwnStructures: 0,
  useRecords: isRecord,
  mapsAsObjects: true,
  variableMapSize: true,
  // A payload may have a key toJSON; with a key constructor beside it msgpackr would call it.
  useToJSON: false,
});

function encode(packet: Packet): Uint8Array {
  const bits = OPTIONAL.reduce((sum, key, i) => (packet[key] === undefined ? sum : sum | (1 << i)), 0);
  // A record has its keys in the table's order, a packet in the sender's.
  const ordered: Record<string, unknown> = {};
  const values: { readonly [K in keyof Packet]?: unknown } = withLargeIntegers(packet);
  for (const key of envelopeRecords[bits] ?? []) ordered[key] = values[key];
  return packr.pack(ordered);
}

/** Tokens of records, which are numbers where two ends share no table. */
const RECORD = 0x40;
const RECORDS_END = 0x80;

/**
 * Scans MessagePack with records: a record is one byte and its values. The packet is one of the envelopes; in
 * the payload, a record stands for a map.
 */
class RecordScanner extends MessagePackScanner {
  #keys: readonly EnvelopeKey[] | undefined;
  #index = 0;

  override next(): EnvelopeKey | undefined {
    this.#keys ??= this.#envelope();
    const key = this.#keys[this.#index];
    this.#index += 1;
    if (key === undefined && this.at < this.bytes.length) throw createPacketError('bytes after its end');
    return key;
  }

  override skipPayload(): boolean {
    if (this.#keys?.[this.#index] !== undefined) return false;
    this.at = this.bytes.length;
    return true;
  }

  protected override valueFrom(token: number, depth: number): unknown {
    if (token < RECORD || token >= RECORDS_END) return super.valueFrom(token, depth);
    const keys = recordTable[token - RECORD] ?? this.refuse('an unknown record', token);
    const values = this.list(keys.length, depth);
    const object: Record<string, unknown> = {};
    for (let i = 0; i < keys.length; i++) object[keys[i] ?? ''] = values[i];
    return object;
  }

  #envelope(): readonly EnvelopeKey[] {
    const token = this.byte();
    const record = token - RECORD;
    const keys = record >= 0 ? envelopeRecords[record] : undefined;
    if (keys === undefined) return this.refuse('no record of an envelope where a packet should begin', token);
    return envelopeKeys.filter((key) => keys.includes(key));
  }
}
