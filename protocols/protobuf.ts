// The package's root would load its reflection and well-known types, five times as much code, at the start of
// every agent.
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { ProtobufScanner } from './scan/protobuf.ts';
import { createCodec, type EnvelopeKey } from './scan/scanner.ts';

/** The fields of `mesh.proto` in the order of their numbers, which begin at 1. */
const FIELDS: readonly EnvelopeKey[] = [
  'type',
  'from',
  'to',
  'task_id',
  'tag',
  'payload',
  'reply_to',
  'token_used',
  'log_uri',
  'id',
  'ts',
];
const COUNTS: readonly EnvelopeKey[] = ['token_used', 'ts'];

const tags = FIELDS.map((key, i) => {
  const wireType = COUNTS.includes(key) ? WireType.Varint : WireType.LengthDelimited;
  return { key, tag: ((i + 1) << 3) | wireType };
});
const keysByTag = new Map(tags.map(({ key, tag }) => [tag, key]));

/** Protocol Buffers: message `mesh.v1.Packet` of `mesh.proto`, fields in the order of their numbers, the payload as JSON. */
export const protobuf: ProtocolAdapter = {
  name: 'protobuf',
  open: () =>
    createCodec({ encode, scan: (blob) => new ProtobufScanner(blob, keysByTag), emptyPayloadBytes: 2 }),
};

function encode(packet: Packet): Uint8Array {
  const writer = new BinaryWriter();
  for (const { key, tag } of tags) {
    const value = packet[key];
    if (typeof value === 'string') writer.uint32(tag).string(value);
    else if (typeof value === 'number') writer.uint32(tag).uint64(value);
    else if (value !== undefined) writer.uint32(tag).bytes(Buffer.from(JSON.stringify(value)));
  }
  return writer.finish();
}
