import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import type { EnvelopeWriter } from '../../contract/suite.ts';

/** Field numbers of `mesh.proto`. */
const NUMBERS: Readonly<Record<string, number>> = {
  type: 1,
  from: 2,
  to: 3,
  task_id: 4,
  tag: 5,
  payload: 6,
  reply_to: 7,
  token_used: 8,
  log_uri: 9,
  id: 10,
  ts: 11,
};
const UNKNOWN = 15;

/** Writes the fields in any order, each with the wire type of its value, as another program with another schema might. */
export const protobufWriter: EnvelopeWriter = {
  write(envelope) {
    const writer = new BinaryWriter();
    for (const [key, value] of Object.entries(envelope)) {
      const name = key.replace(/^§/, '');
      if (!writeField(writer, name, value)) return undefined;
    }
    return writer.finish();
  },
  nest(envelope, depth) {
    const { payload = {}, ...rest } = envelope;
    const text = JSON.stringify(payload).replace('"§deep"', '['.repeat(depth) + ']'.repeat(depth));
    const writer = new BinaryWriter();
    for (const [key, value] of Object.entries(rest)) writeField(writer, key, value);
    return writer.uint32(tag('payload', WireType.LengthDelimited)).bytes(Buffer.from(text)).finish();
  },
};

function writeField(writer: BinaryWriter, name: string, value: JsonValue): boolean {
  if (name === 'payload') {
    writer.uint32(tag(name, WireType.LengthDelimited)).bytes(Buffer.from(JSON.stringify(value)));
  } else if (typeof value === 'string') {
    writer.uint32(tag(name, WireType.LengthDelimited)).string(value);
  } else if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= 2 ** 53) {
    writer.uint32(tag(name, WireType.Varint)).int64(value);
  } else if (typeof value === 'number') {
    writer.uint32(tag(name, WireType.Bit64)).double(value);
  } else if (NUMBERS[name] === undefined) {
    writer.uint32(tag(name, WireType.LengthDelimited)).bytes(Buffer.from(JSON.stringify(value)));
  } else {
    // The text `§deep` would become a text, or a number.
    return false;
  }
  return true;
}

function tag(name: string, wireType: WireType): number {
  return ((NUMBERS[name] ?? UNKNOWN) << 3) | wireType;
}
