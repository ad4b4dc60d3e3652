import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { Packr } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import { MeshError } from '../core/errors.ts';
import { MAX_PAYLOAD_DEPTH } from '../core/limits.ts';
import type { JsonValue, PacketHead } from '../core/packet.ts';
import { anyPacket, type Choices, choices, headOf, plainPacket } from './fixtures/arbitrary-packets.ts';
import { testSession } from './fixtures/session.ts';
import { msgpack } from './msgpack.ts';

const codec = msgpack.open(testSession);
const refused = expect.objectContaining({ code: 'packet' });

function peek(blob: Uint8Array): PacketHead {
  if (codec.peek === undefined) throw new Error('no peek');
  return codec.peek(blob);
}

/** Bytes written as numbers and texts: `bytes(0x81, 'a', 1)`; a text goes with its one-byte header. */
function bytes(...parts: (number | string | Uint8Array)[]): Buffer {
  return Buffer.concat(
    parts.map((part) => {
      if (typeof part === 'number') return Buffer.of(part);
      if (typeof part !== 'string') return part;
      const text = Buffer.from(part);
      return text.length < 32
        ? Buffer.of(0xa0 + text.length, ...text)
        : Buffer.of(0xd9, text.length, ...text);
    }),
  );
}

/** A packet whose payload is `{a: …}` with these bytes for the value. */
function withPayloadValue(...value: (number | string | Uint8Array)[]): Buffer {
  const { payload: _, ...envelope } = plainPacket;
  const blob = codec.encode({ ...envelope, payload: {} });
  return bytes(blob.subarray(0, -1), 0x81, 'a', ...value);
}

/** A packet whose `token_used` is written with these bytes. */
function withTokens(...value: number[]): Buffer {
  const blob = Buffer.from(codec.encode(plainPacket));
  const at = blob.indexOf('token_used') + 'token_used'.length;
  return Buffer.concat([blob.subarray(0, at), Buffer.from(value), blob.subarray(at + 1)]);
}

/** MessagePack of `value` as another implementation might write it: any width that holds it. */
function written(value: JsonValue, choice: Choices): Buffer {
  if (value === null) return Buffer.of(0xc0);
  if (typeof value === 'boolean') return Buffer.of(value ? 0xc3 : 0xc2);
  if (typeof value === 'number') return writtenNumber(value, choice);
  if (typeof value === 'string') {
    const text = Buffer.from(value);
    return Buffer.concat([sized(text.length, [0xa0, 32], [0xd9, 0xda, 0xdb], choice), text]);
  }
  if (Array.isArray(value)) {
    const header = sized(value.length, [0x90, 16], [undefined, 0xdc, 0xdd], choice);
    return Buffer.concat([header, ...value.map((item) => written(item, choice))]);
  }
  const entries = Object.entries(value);
  const header = sized(entries.length, [0x80, 16], [undefined, 0xde, 0xdf], choice);
  return Buffer.concat([
    header,
    ...entries.flatMap(([key, item]) => [written(key, choice), written(item, choice)]),
  ]);
}

function sized(
  length: number,
  [fixed, below]: readonly [number, number],
  [one, two = 0, four = 0]: readonly (number | undefined)[],
  choice: Choices,
): Buffer {
  const least = length < below ? 0 : length < 256 && one !== undefined ? 1 : length < 65_536 ? 2 : 3;
  const width = least + choice.of(4 - least);
  if (width === 0) return Buffer.of(fixed + length);
  if (width === 1 && one !== undefined) return Buffer.of(one, length);
  const header = Buffer.alloc(width === 3 ? 5 : 3, width === 3 ? four : two);
  header.writeUIntBE(length, 1, header.length - 1);
  return header;
}

function writtenNumber(value: number, choice: Choices): Buffer {
  const double = Buffer.alloc(9, 0xcb);
  double.writeDoubleBE(value, 1);
  const forms = [double];
  if (Math.fround(value) === value) {
    const single = Buffer.alloc(5, 0xca);
    single.writeFloatBE(value, 1);
    forms.push(single);
  }
  if (Number.isSafeInteger(value)) {
    const signed = Buffer.alloc(9, 0xd3);
    signed.writeBigInt64BE(BigInt(value), 1);
    forms.push(signed);
    if (value >= 0) forms.push(Buffer.concat([Buffer.of(0xcf), signed.subarray(1)]));
    for (const [token, width] of [
      [0xd0, 1],
      [0xd1, 2],
      [0xd2, 4],
    ] as const) {
      const number = Buffer.alloc(1 + width, token);
      if (value >= -(2 ** (8 * width - 1)) && value < 2 ** (8 * width - 1)) {
        number.writeIntBE(value, 1, width);
        forms.push(number);
      }
    }
    for (const [token, width] of [
      [0xcc, 1],
      [0xcd, 2],
      [0xce, 4],
    ] as const) {
      const number = Buffer.alloc(1 + width, token);
      if (value >= 0 && value < 2 ** (8 * width)) {
        number.writeUIntBE(value, 1, width);
        forms.push(number);
      }
    }
    if (value >= -32 && value < 128) forms.push(Buffer.of(value & 0xff));
  }
  return forms[choice.of(forms.length)] ?? double;
}

describe('msgpack', () => {
  it('writes what a plain MessagePack writer writes', () => {
    const plain = new Packr({ useRecords: false, variableMapSize: true });
    fc.assert(
      fc.property(anyPacket, (packet) => {
        expect(Buffer.from(codec.encode(packet)).equals(plain.pack(packet))).toBe(true);
      }),
    );
  });

  it('decodes and peeks the same, whatever widths the sender chose', () => {
    fc.assert(
      fc.property(anyPacket, choices, (packet, choice) => {
        const blob = written({ ...packet }, choice);
        expect(codec.decode(blob)).toStrictEqual(packet);
        expect(peek(blob)).toStrictEqual(headOf(packet));
        // Not every caller has a Buffer.
        expect(peek(new Uint8Array(blob))).toStrictEqual(headOf(packet));
      }),
      { numRuns: 400 },
    );
  });

  it('never peeks otherwise than it decodes, and throws nothing else, where bytes were damaged', () => {
    const tokens = [
      0x7f, 0x80, 0x8f, 0x90, 0xa0, 0xa4, 0xc0, 0xc1, 0xc4, 0xc7, 0xca, 0xcf, 0xd4, 0xd6, 0xd9, 0xdd, 0xdf,
      0xe0,
    ];
    const damage = fc.tuple(
      fc.nat(1000),
      fc.nat(3),
      fc.array(fc.oneof(fc.nat(255), fc.constantFrom(...tokens)), { maxLength: 3 }),
    );
    fc.assert(
      fc.property(
        anyPacket,
        choices,
        fc.array(damage, { minLength: 1, maxLength: 3 }),
        (packet, choice, damages) => {
          let blob = written({ ...packet }, choice);
          for (const [at, cut, put] of damages) {
            const start = at % blob.length;
            blob = Buffer.concat([blob.subarray(0, start), Buffer.from(put), blob.subarray(start + cut)]);
          }
          const decoded = attempt(() => codec.decode(blob));
          const head = attempt(() => peek(blob));
          if (decoded !== undefined) expect(head).toStrictEqual(headOf(decoded));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it.each(['type', 'from', 'id', 'token_used', 'ts', 'payload', 'to', 'tag'])('refuses %s twice', (key) => {
    const blob = Buffer.from(codec.encode(plainPacket));
    const again = written({ [key]: Object(plainPacket)[key] }, { of: () => 0 }).subarray(1);
    const keys = Object.keys(plainPacket).length;
    const twice = Buffer.concat([Buffer.of(0x80 + keys + 1), blob.subarray(1), again]);
    expect(() => codec.decode(twice)).toThrow(refused);
    expect(() => peek(twice)).toThrow(new RegExp(`the key ${key} comes twice`));
  });

  it.each<[string, (number | string)[]]>([
    ['bytes', [0xc4, 1, 7]],
    ['long bytes', [0xc6, 0, 0, 0, 1, 7]],
    ['a date', [0xd6, 0xff, 0, 0, 0, 1]],
    ['undefined as msgpackr writes it', [0xd4, 0, 0]],
    ['an unknown extension', [0xc7, 1, 0x55, 0]],
    ['a record definition of msgpackr', [0xd4, 0x72, 0x40, 0x91, 'a', 1]],
    ['a set of msgpackr', [0xc7, 0, 0x73, 0x91, 1]],
    ['the token that is never used', [0xc1]],
    ['a key that is a number', [0x81, 1, 2]],
    ['a key that is a list', [0x81, 0x90, 2]],
    ['a key that is a map, further in', [0x91, 0x82, 'a', 1, 0x80, 2]],
    ['a list that says it is longer than all there is', [0xdd, 0xff, 0xff, 0xff, 0xff]],
    ['a map that says it is longer than all there is', [0xdf, 0xff, 0xff, 0xff, 0xff]],
    ['a text that says it is longer than all there is', [0xdb, 0xff, 0xff, 0xff, 0xff]],
    ['a length that is cut off', [0xda, 0]],
    ['a number that is cut off', [0xcb, 0, 0]],
    ['something behind the end', [1, 1]],
  ])('refuses %s, in a peek too', (_, value) => {
    const blob = withPayloadValue(...value);
    expect(() => codec.decode(blob)).toThrow(refused);
    expect(() => peek(blob)).toThrow(refused);
  });

  it.each<[string, (number | string)[]]>([
    ['a text that is not UTF-8', [0xa1, 0xff]],
    ['half a character', [0xa2, 0xe2, 0x9c]],
    ['a surrogate in a key', [0x81, 0xa3, 0xed, 0xa0, 0x80, 1]],
    ['a key __proto__', [0x81, '__proto__', 1]],
    ['NaN', [0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0]],
    ['infinity', [0xca, 0x7f, 0x80, 0, 0]],
  ])('leaves %s to whoever decodes', (_, value) => {
    const blob = withPayloadValue(...value);
    expect(peek(blob)).toStrictEqual(headOf(plainPacket));
    expect(() => codec.decode(blob)).toThrow(refused);
  });

  it('refuses a payload that is no map', () => {
    const blob = Buffer.from(codec.encode({ ...plainPacket, payload: {} }));
    blob[blob.length - 1] = 0x90;
    expect(() => codec.decode(blob)).toThrow(refused);
    expect(() => peek(blob)).toThrow(refused);
  });

  it('takes a payload nested to the limit and refuses one level more', () => {
    const nested = (depth: number) => withPayloadValue(Buffer.alloc(depth, 0x91), 0x90);
    // The payload itself is one level, and so is the empty list at the end.
    expect(codec.decode(nested(MAX_PAYLOAD_DEPTH - 2))).toBeTruthy();
    expect(peek(nested(MAX_PAYLOAD_DEPTH - 2))).toStrictEqual(headOf(plainPacket));
    for (const depth of [MAX_PAYLOAD_DEPTH - 1, 1_000_000]) {
      expect(() => codec.decode(nested(depth))).toThrow(refused);
      expect(() => peek(nested(depth))).toThrow(refused);
    }
  });

  it.each<[string, number[], number]>([
    ['one byte', [0x7f], 127],
    ['uint8', [0xcc, 0xff], 255],
    ['uint16', [0xcd, 1, 0], 256],
    ['uint32', [0xce, 0xff, 0xff, 0xff, 0xff], 2 ** 32 - 1],
    ['uint64', [0xcf, 0, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], Number.MAX_SAFE_INTEGER],
    ['int64', [0xd3, 0, 0, 0, 0, 0, 0, 0, 5], 5],
    ['a whole float32', [0xca, 0x41, 0x40, 0, 0], 12],
    ['a whole float64', [0xcb, 0x40, 0x28, 0, 0, 0, 0, 0, 0], 12],
  ])('reads tokens written as %s', (_, value, tokens) => {
    expect(peek(withTokens(...value)).token_used).toBe(tokens);
    expect(codec.decode(withTokens(...value)).token_used).toBe(tokens);
  });

  it.each<[string, number[]]>([
    ['below 0', [0xff]],
    ['below 0 in 16 bits', [0xd1, 0xff, 0xff]],
    ['beyond counting', [0xcf, 0, 0x20, 0, 0, 0, 0, 0, 0]],
    ['by half', [0xcb, 0x3f, 0xe0, 0, 0, 0, 0, 0, 0]],
    ['not a number', [0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0]],
    ['as text', [0xa1, 0x37]],
    ['as nothing', [0xc0]],
  ])('refuses tokens %s, in a peek too', (_, value) => {
    expect(() => codec.decode(withTokens(...value))).toThrow(refused);
    expect(() => peek(withTokens(...value))).toThrow(refused);
  });

  it('still decodes after an input that made msgpackr fail', () => {
    const blob = codec.encode(plainPacket);
    expect(() => codec.decode(withPayloadValue(0xd4, 0x72, 0x40, 0x91, 'a', 1))).toThrow(refused);
    expect(codec.decode(blob)).toStrictEqual(plainPacket);
  });

  it('fulfils the contract where msgpackr has no native part', () => {
    const script = `
      import { isNativeAccelerationEnabled } from 'msgpackr';
      import { contractChecks } from './contract.ts';
      import { msgpack } from './msgpack.ts';
      for (const check of contractChecks(msgpack)) check.run();
      console.log(isNativeAccelerationEnabled);
    `;
    const output = execFileSync(process.execPath, ['--input-type=module-typescript', '--eval', script], {
      cwd: import.meta.dirname,
      env: { ...process.env, MSGPACKR_NATIVE_ACCELERATION_DISABLED: 'true' },
      encoding: 'utf8',
    });
    expect(output.trim()).toBe('false');
  });
});

/** The result; undefined where it was refused. Any other error than a refusal is thrown on. */
function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof MeshError && error.code === 'packet') return undefined;
    throw error;
  }
}
