import { readFileSync } from 'node:fs';
import { create, createFileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt';
import { copyHead, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { describe, expect, it } from 'vitest';
import { protobuf } from './protobuf.ts';
import { plainPacket, randomPackets } from './testing/packets.ts';
import { opened, refused } from './testing/session.ts';

const { codec, peek } = opened(protobuf);

/** The fields that `mesh.proto` states. */
const schemaFields = [
  ...readFileSync(new URL('./mesh.proto', import.meta.url), 'utf8').matchAll(
    /^ {2}optional (string|bytes|uint64) (\w+) = (\d+);$/gm,
  ),
].map(([, type = '', name = '', number]) => ({ type, name, number: Number(number) }));

/** The type of `mesh.proto` as protobuf-es builds it by reflection, without the adapter. */
const schema = (() => {
  const types = {
    string: FieldDescriptorProto_Type.STRING,
    bytes: FieldDescriptorProto_Type.BYTES,
    uint64: FieldDescriptorProto_Type.UINT64,
  };
  const file = create(FileDescriptorProtoSchema, {
    name: 'mesh.proto',
    package: 'mesh.v1',
    syntax: 'proto3',
    messageType: [
      {
        name: 'Packet',
        field: schemaFields.map(({ number, name, type }, oneofIndex) => ({
          number,
          name,
          label: FieldDescriptorProto_Label.OPTIONAL,
          type: Object(types)[type],
          // In descriptors proto3 expresses `optional` as a oneof of its own for each field.
          proto3Optional: true,
          oneofIndex,
        })),
        oneofDecl: schemaFields.map(({ name }) => ({ name: `_${name}` })),
      },
    ],
  });
  const found = createFileRegistry(file, () => undefined).getMessage('mesh.v1.Packet');
  if (found === undefined) throw new Error('no mesh.v1.Packet');
  return found;
})();

/** Returns the packet as the fields of a message. */
function messageOf(packet: Packet): Record<string, unknown> {
  return {
    ...packet,
    taskId: packet.task_id,
    replyTo: packet.reply_to,
    logUri: packet.log_uri,
    tokenUsed: BigInt(packet.token_used),
    ts: BigInt(packet.ts),
    payloadJson: Buffer.from(JSON.stringify(packet.payload)),
  };
}

/** Returns the bytes of each field of a message, tag and length included. */
function fieldsOf(blob: Uint8Array): Buffer[] {
  const parts: Buffer[] = [];
  const bytes = Buffer.from(blob);
  for (let at = 0; at < bytes.length; ) {
    const start = at;
    const isText = ((bytes[at] ?? 0) & 7) === 2;
    let length = 0;
    let scale = 1;
    do {
      at += 1;
      length += ((bytes[at] ?? 0) & 0x7f) * scale;
      scale *= 128;
    } while ((bytes[at] ?? 0) >= 0x80);
    at += isText ? length + 1 : 1;
    parts.push(bytes.subarray(start, at));
  }
  return parts;
}

const plainBlob = Buffer.from(codec.encode(plainPacket));
const plainFields = fieldsOf(plainBlob);

/** Returns the plain packet with another field of that tag. */
function withField(tag: number, ...bytes: number[]): Buffer {
  return Buffer.concat(plainFields.map((field) => (field[0] === tag ? Buffer.of(tag, ...bytes) : field)));
}

const PAYLOAD = (6 << 3) | 2;
const REPLY_TO = (7 << 3) | 2;
const TOKENS = 8 << 3;
const ID = (10 << 3) | 2;

describe('protobuf', () => {
  it('writes what protobuf-es writes by the schema', () => {
    expect(schemaFields).toHaveLength(11);
    for (const packet of randomPackets(100)) {
      const blob = toBinary(schema, create(schema, messageOf(packet)));
      expect(Buffer.from(codec.encode(packet)).equals(blob)).toBe(true);
    }
  });

  it('is read by protobuf-es by the schema', () => {
    const message = fromBinary(schema, codec.encode({ ...plainPacket, reply_to: 'writer-3', log_uri: '' }));
    expect(message).toMatchObject({
      type: 'triples',
      from: 'extractor-1',
      to: 'writer',
      taskId: 't-1',
      tag: 'x',
      payloadJson: new Uint8Array(Buffer.from('{"a":1}')),
      replyTo: 'writer-3',
      tokenUsed: 7n,
      logUri: '',
      id: 'extractor-1-7',
      ts: 1n,
    });
  });

  it.each<[string, Uint8Array]>([
    ['an unknown field', Buffer.concat([plainBlob, Buffer.of((15 << 3) | 2, 0)])],
    ['a field with a number above 15', Buffer.concat([plainBlob, Buffer.of(0x82, 0x01, 0)])],
    ['field number 0', Buffer.concat([plainBlob, Buffer.of(2, 0)])],
    ['a number as text', Buffer.concat([plainBlob.subarray(0, -2), Buffer.of((11 << 3) | 2, 1, 0x31)])],
    ['a group', Buffer.concat([plainBlob, Buffer.of((3 << 3) | 3, (3 << 3) | 4)])],
    ['a tag with needless bytes', Buffer.concat([plainBlob, Buffer.of(REPLY_TO | 0x80, 0, 1, 0x31)])],
    ['a number with needless bytes', withField(TOKENS, 0x87, 0x00)],
    ['a length with needless bytes', withField(ID, 0x81, 0x00, 0x31)],
    ['a number beyond counting', withField(TOKENS, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10)],
    ['a number without an end', withField(TOKENS, ...new Array<number>(20).fill(0xff))],
    ['a length beyond the end', withField(ID, 0xff, 0xff, 0xff, 0xff, 0x07)],
    ['an empty id', withField(ID, 0)],
    ['an id that is not UTF-8', withField(ID, 1, 0xff)],
    ['bad UTF-8 in reply_to', Buffer.concat([plainBlob, Buffer.of(REPLY_TO, 1, 0xff)])],
    ['a surrogate in an id', withField(ID, 3, 0xed, 0xa0, 0x80)],
  ])('refuses %s, in a peek too', (_, blob) => {
    expect(() => codec.decode(blob)).toThrow(refused);
    expect(() => peek(blob)).toThrow(refused);
  });

  it.each<[string, Uint8Array]>([
    ['a payload that is no JSON', withField(PAYLOAD, 1, 0x7b)],
    ['a payload that is no object', withField(PAYLOAD, 2, 0x5b, 0x5d)],
    ['a payload of nothing', withField(PAYLOAD, 0)],
    ['a payload that is not UTF-8', withField(PAYLOAD, 5, 0x7b, 0x22, 0xff, 0x22, 0x7d)],
  ])('leaves %s to whoever decodes', (_, blob) => {
    expect(peek(blob)).toStrictEqual(copyHead(plainPacket));
    expect(() => codec.decode(blob)).toThrow(refused);
  });
});
