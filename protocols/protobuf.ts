// The package's root would load its reflection and well-known types, five times as much code, at the start of every agent.
import { WireType } from '@bufbuild/protobuf/wire';
import type { ProtocolAdapter } from '../core/adapter.ts';
import { PREFIX_BYTES } from '../core/frame.ts';
import { type Packet, type PacketHead, parsePacket } from '../core/packet.ts';
import { type EnvelopeKey, envelopeKeys, HeadFields, readField } from './head.ts';
import { parseJson } from './json-scanner.ts';
import { type Form, message, one, protobufText, tagOf } from './protobuf-message.ts';
import { ProtobufScanner } from './protobuf-scanner.ts';

/** Protocol Buffers: message `mesh.v1.Packet` of `mesh.proto`, fields in the order of their numbers, the payload as JSON. */
export const protobuf: ProtocolAdapter = {
  name: 'protobuf',
  open: () => ({ encode, decode, headerSize, peek }),
};

const count: Form<number> = {
  wireType: WireType.Varint,
  write: (writer, value) => void writer.uint64(value),
  read: (reader) => Number(reader.uint64()),
};

const jsonBytes: Form<unknown> = {
  wireType: WireType.LengthDelimited,
  write: (writer, value) => void writer.bytes(Buffer.from(JSON.stringify(value))),
  read: (reader) => parseJson(reader.bytes()),
};

const fields = {
  type: one(1, protobufText),
  from: one(2, protobufText),
  to: one(3, protobufText),
  task_id: one(4, protobufText),
  tag: one(5, protobufText),
  payload: one(6, jsonBytes),
  reply_to: one(7, protobufText),
  token_used: one(8, count),
  log_uri: one(9, protobufText),
  id: one(10, protobufText),
  ts: one(11, count),
} satisfies { readonly [K in EnvelopeKey]: unknown };

const packetMessage = message(fields);
const keysByTag = new Map(
  envelopeKeys.map((key) => [tagOf(fields[key].number, fields[key].form.wireType), key]),
);

function encode(packet: Packet): Uint8Array {
  return packetMessage.encode(packet);
}

/** The bytes are judged before the library sees them: it would read numbers with needless bytes. */
function decode(blob: Uint8Array): Packet {
  readHead(new ProtobufScanner(blob, keysByTag, 'strict'));
  return parsePacket(packetMessage.decode(blob));
}

function headerSize(packet: Packet): number {
  return PREFIX_BYTES + encode({ ...packet, payload: {} }).length - '{}'.length;
}

/** Reads all fields but the payload. Left to `decode`: bad UTF-8 in `reply_to` and `log_uri`, the payload's JSON, the syntax of node ids. */
function peek(blob: Uint8Array): PacketHead {
  return readHead(new ProtobufScanner(blob, keysByTag, 'lenient'));
}

function readHead(scanner: ProtobufScanner): PacketHead {
  const head = new HeadFields();
  while (!scanner.isAtEnd) readField(scanner, scanner.key(head), head);
  return head.finish();
}
