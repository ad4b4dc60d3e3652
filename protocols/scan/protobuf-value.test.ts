import { isDeepStrictEqual } from 'node:util';
import { fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { StructSchema, ValueSchema } from '@bufbuild/protobuf/wkt';
import { MAX_PAYLOAD_DEPTH } from '@gaia-mesh/core/contracts/limits.ts';
import { describe, expect, it } from 'vitest';
import { contractSamples } from '../contract/samples.ts';
import { randomPackets } from '../testing/packets.ts';
import { refused } from '../testing/session.ts';
import { createMessageForm, createSingleField } from './protobuf-message.ts';
import { protobufStruct, protobufValue } from './protobuf-value.ts';

const box = createMessageForm({
  value: createSingleField(1, protobufValue),
  struct: createSingleField(2, protobufStruct),
});

/** Wraps the bytes of a `Value` in a box. */
function boxed(write: (writer: BinaryWriter) => unknown): Uint8Array {
  const writer = new BinaryWriter();
  write(writer.uint32(0x0a).fork());
  return writer.join().finish();
}

function boxedValue(write: (writer: BinaryWriter) => unknown): unknown {
  return Reflect.get(box.decode(boxed(write)), 'value');
}

describe('protobufValue and protobufStruct', () => {
  it('write and read what the library writes and reads', () => {
    for (const { payload } of randomPackets(150)) {
      const value = toBinary(ValueSchema, fromJson(ValueSchema, JSON.parse(JSON.stringify(payload))));
      const struct = toBinary(StructSchema, fromJson(StructSchema, JSON.parse(JSON.stringify(payload))));
      const bytes = box.encode({ value: payload, struct: payload });
      const expected = new BinaryWriter().uint32(0x0a).bytes(value).uint32(0x12).bytes(struct).finish();
      expect(Buffer.from(bytes).equals(expected)).toBe(true);
      // Vitest would compare the values of keys named `constructor`.
      expect(isDeepStrictEqual(box.decode(bytes), { value: payload, struct: payload })).toBe(true);
      expect(toJson(ValueSchema, fromBinary(ValueSchema, value))).toEqual(payload);
    }
  });

  it('agree with the library on what every adapter must carry', () => {
    for (const { name, packet } of contractSamples) {
      if (name === 'deepest nesting') continue; // The library's own limit is lower.
      const value = toBinary(ValueSchema, fromJson(ValueSchema, JSON.parse(JSON.stringify(packet.payload))));
      expect(
        Buffer.from(box.encode({ value: packet.payload })).equals(boxed((w) => w.raw(value))),
        name,
      ).toBe(true);
    }
  });

  it('keep −0 and leave out what is undefined', () => {
    expect(box.decode(box.encode({ value: { zero: -0 }, struct: { a: 1, b: undefined } }))).toStrictEqual({
      value: { zero: -0 },
      struct: { a: 1 },
    });
  });

  it.each([
    ['no value', ''],
    ['two values', '08000800'],
    ['a null that is 1', '0801'],
    ['a number as text', '1201'],
    ['half a number', '110000000000'],
    ['a text with bad UTF-8', '1a01ff'],
    ['a kind that there is not', '3a00'],
    ['a list item that is no value', '3203080000'],
    ['a list of something else', '32021200'],
    ['a pair without a value', '2a040a020a00'],
    ['a pair of something else', '2a080a061a0012020800'],
    ['a pair with its value first', '2a080a06120208000a00'],
    ['a key that comes twice', `2a12${'0a070a016112020800'.repeat(2)}`],
    ['a pair that is longer than said', '2a080a050a016112020800'],
    ['a pair that is shorter than said', '2a0a0a080a016112020800'],
    ['a struct that is longer than the value', '2a050a'],
    ['a key __proto__', `2a110a0f0a09${Buffer.from('__proto__').toString('hex')}12022a00`],
  ])('refuse %s', (_what, hex) => {
    expect(() => boxedValue((writer) => writer.raw(Buffer.from(hex, 'hex')))).toThrow(refused);
  });

  it('take a pair, and a key that comes once', () => {
    expect(boxedValue((writer) => writer.raw(Buffer.from('2a090a070a016112020800', 'hex')))).toStrictEqual({
      a: null,
    });
  });

  it('take an empty key, which writers may omit', () => {
    for (const hex of ['2a060a0412020800', '2a080a060a0012020800'])
      expect(boxedValue((writer) => writer.raw(Buffer.from(hex, 'hex')))).toStrictEqual({ '': null });
    const twice = Buffer.from(`2a0e${'0a0412020800'}${'0a060a0012020800'}`, 'hex');
    expect(() => boxedValue((writer) => writer.raw(twice))).toThrow(refused);
  });

  it(`read ${MAX_PAYLOAD_DEPTH} levels and not one more, nor so many that the stack would end`, () => {
    const lists = (depth: number) => {
      let inner = Buffer.from('0800', 'hex');
      for (let i = 0; i < depth; i++) {
        const item = new BinaryWriter().uint32(0x0a).bytes(inner).finish();
        inner = Buffer.from(new BinaryWriter().uint32(0x32).bytes(item).finish());
      }
      return boxed((writer) => writer.raw(inner));
    };
    expect(() => box.decode(lists(MAX_PAYLOAD_DEPTH))).not.toThrow();
    expect(() => box.decode(lists(MAX_PAYLOAD_DEPTH + 1))).toThrow(/nested deeper/);
    expect(() => box.decode(lists(2_000))).toThrow(/nested deeper/);
  });
});
