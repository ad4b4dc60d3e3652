import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Packr } from 'msgpackr';
import type { AdapterSession, Codec, ProtocolAdapter } from '../core/adapter.ts';
import { MeshError, messageOf } from '../core/errors.ts';
import { PREFIX_BYTES } from '../core/frame.ts';
import { HUB_ID, type JsonValue, type Packet, type PacketHead, parsePacket } from '../core/packet.ts';
import { HeadFields, notAPacket, readField } from './head.ts';
import { MessagePackScanner } from './msgpack-scanner.ts';
import { envelopeRecordOf, envelopeRecords, isRecord, recordTable } from './record-table.ts';

/**
 * MessagePack with msgpackr's private records: an object of a known structure is one byte and its values. The packet itself
 * always is; in the payload, what is in the table, and maps for the rest. Only msgpackr reads it, and only with the same table:
 * the hub sends it in the handshake, agents answer with its hash.
 */
export const msgpackRecords: ProtocolAdapter = {
  name: 'msgpack-records',
  join: ({ self }) => ({ offer: self === HUB_ID ? tableOffer : tableHash, open }),
  open,
};

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
  return { encode, decode, headerSize, peek };
}

const packr = new Packr({
  // msgpackr writes its notes into what it is given.
  structures: recordTable.map((keys) => [...keys]),
  maxSharedStructures: recordTable.length,
  // What is not in the table stays a map: never a new structure.
  maxOwnStructures: 0,
  useRecords: isRecord,
  mapsAsObjects: true,
  variableMapSize: true,
  int64AsType: 'number',
  // A payload may have a key toJSON; with a key constructor beside it msgpackr would call it.
  useToJSON: false,
});
const recordSizes = recordTable.map((keys) => keys.length);

function encode(packet: Packet): Uint8Array {
  // A record has its keys in the table's order, a packet in the sender's.
  const ordered: Record<string, unknown> = {};
  for (const key of envelopeRecords[envelopeRecordOf(packet)] ?? []) ordered[key] = packet[key];
  return packr.pack(ordered);
}

/**
 * The bytes are judged before msgpackr sees them: it would learn structures from them and compile readers of the sender's
 * keys, and all that `msgpack.ts` names.
 */
function decode(blob: Uint8Array): Packet {
  const scanner = new MessagePackScanner(blob, 'strict', recordSizes);
  readHead(scanner);
  let value: unknown;
  try {
    value = packr.unpack(scanner.safeBlob());
  } catch (error) {
    throw notAPacket(messageOf(error), error);
  }
  return parsePacket(value);
}

function headerSize(packet: Packet): number {
  return PREFIX_BYTES + encode({ ...packet, payload: {} }).length - packr.pack({}).length;
}

/** Left to `decode`: the same as with plain MessagePack. */
function peek(blob: Uint8Array): PacketHead {
  return readHead(new MessagePackScanner(blob, 'lenient', recordSizes));
}

function readHead(scanner: MessagePackScanner): PacketHead {
  const head = new HeadFields();
  const record = scanner.record();
  const keys = envelopeRecords[record];
  if (keys === undefined) throw notAPacket(`record ${record} of the table`);
  for (const key of keys) readField(scanner, head.named(key), head);
  scanner.end();
  return head.finish();
}
