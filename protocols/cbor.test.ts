import { execFileSync } from 'node:child_process';
import { Encoder } from 'cbor-x';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { MeshError } from '../core/errors.ts';
import { MAX_PAYLOAD_DEPTH } from '../core/limits.ts';
import type { JsonValue, PacketHead } from '../core/packet.ts';
import { cbor } from './cbor.ts';
import { anyPacket, type Choices, choices, headOf, plainPacket } from './fixtures/arbitrary-packets.ts';
import { testSession } from './fixtures/session.ts';
import { sharedJson } from './fixtures/shared-file.ts';

const codec = cbor.open(testSession);
const refused = expect.objectContaining({ code: 'packet' });

function peek(blob: Uint8Array): PacketHead {
  if (codec.peek === undefined) throw new Error('no peek');
  return codec.peek(blob);
}

/** A packet whose payload is `{a: …}` with these bytes for the value. */
function withPayloadValue(value: Uint8Array): Buffer {
  const blob = codec.encode({ ...plainPacket, payload: {} });
  return Buffer.concat([blob.subarray(0, -1), Buffer.of(0xa1, 0x61, 0x61), value]);
}

/** A packet whose `token_used` is written with these bytes. */
function withTokens(hex: string): Buffer {
  const blob = Buffer.from(codec.encode(plainPacket));
  const at = blob.indexOf('token_used') + 'token_used'.length;
  return Buffer.concat([blob.subarray(0, at), Buffer.from(hex, 'hex'), blob.subarray(at + 1)]);
}

/** CBOR of `value` as another implementation might write it: any width that holds it. */
function written(value: JsonValue, choice: Choices): Buffer {
  if (value === null) return Buffer.of(0xf6);
  if (typeof value === 'boolean') return Buffer.of(value ? 0xf5 : 0xf4);
  if (typeof value === 'number') return writtenNumber(value, choice);
  if (typeof value === 'string') {
    const text = Buffer.from(value);
    return Buffer.concat([token(3, text.length, choice), text]);
  }
  if (Array.isArray(value))
    return Buffer.concat([token(4, value.length, choice), ...value.map((item) => written(item, choice))]);
  const entries = Object.entries(value);
  return Buffer.concat([
    token(5, entries.length, choice),
    ...entries.flatMap(([key, item]) => [written(key, choice), written(item, choice)]),
  ]);
}

function token(major: number, argument: number, choice: Choices): Buffer {
  const least = argument < 24 ? 0 : argument < 256 ? 1 : argument < 65_536 ? 2 : argument < 2 ** 32 ? 3 : 4;
  // Eight bytes for the length of a text are refused.
  const width = least + choice.of((major === 3 ? 4 : 5) - least);
  if (width === 0) return Buffer.of((major << 5) | argument);
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(argument));
  return Buffer.concat([Buffer.of((major << 5) | (23 + width)), bytes.subarray(8 - 2 ** (width - 1))]);
}

function writtenNumber(value: number, choice: Choices): Buffer {
  const double = Buffer.alloc(9, 0xfb);
  double.writeDoubleBE(value, 1);
  const forms: Buffer[] = [double];
  if (Math.fround(value) === value) {
    const single = Buffer.alloc(5, 0xfa);
    single.writeFloatBE(value, 1);
    forms.push(single);
  }
  if (Number.isSafeInteger(value))
    forms.push(value >= 0 ? token(0, value, choice) : token(1, -1 - value, choice));
  return forms[choice.of(forms.length)] ?? double;
}

describe('cbor', () => {
  it('writes what a plain CBOR writer writes', () => {
    const plain = new Encoder({ useRecords: false, variableMapSize: true });
    fc.assert(
      fc.property(anyPacket, (packet) => {
        expect(Buffer.from(codec.encode(packet)).equals(plain.encode(packet))).toBe(true);
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
      0x17, 0x18, 0x1b, 0x1f, 0x3b, 0x40, 0x5f, 0x60, 0x7b, 0x7f, 0x80, 0x9f, 0xa0, 0xbf, 0xc1, 0xd8, 0xd9,
      0xf4, 0xf7, 0xf8, 0xf9, 0xff,
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
    const twice = Buffer.concat([Buffer.of(0xa0 + keys + 1), blob.subarray(1), again]);
    expect(() => codec.decode(twice)).toThrow(refused);
    expect(() => peek(twice)).toThrow(new RegExp(`the key ${key} comes twice`));
  });

  it.each([
    ['bytes', '4107'],
    ['a date', 'c11a514b67b0'],
    ['a large number', 'c249010000000000000000'],
    ['a typed array', 'd8404107'],
    ['a record definition of cbor-x', 'd9dfff8319e0008161611901'],
    ['a shared value', 'd81c80'],
    ['a reference to a shared value', 'd81d00'],
    ['packed values', 'd83384808080f6'],
    ['self-described CBOR', 'd9d9f700'],
    ['undefined', 'f7'],
    ['an unassigned simple value', 'f820'],
    ['a simple value that stands for a packed one', 'e0'],
    ['a list without a length', '9fff'],
    ['a map without a length', 'bfff'],
    ['a text without a length', '7f6161ff'],
    ['a break', 'ff'],
    ['a reserved length', '1c'],
    ['a key that is a number', 'a10102'],
    ['a key that is a list', 'a18002'],
    ['a key that is a map, further in', '81a2616101a002'],
    ['a list that says it is longer than all there is', '9affffffff'],
    ['a map that says it is longer than all there is', 'bbffffffffffffffff'],
    ['a text that says it is longer than all there is', '7affffffff'],
    ['a text with a length in eight bytes', '7b000000000000000161'],
    ['a length that is cut off', '7900'],
    ['a number that is cut off', 'fb0000'],
    ['something behind the end', '0101'],
  ])('refuses %s, in a peek too', (_, hex) => {
    const blob = withPayloadValue(Buffer.from(hex, 'hex'));
    expect(() => codec.decode(blob)).toThrow(refused);
    expect(() => peek(blob)).toThrow(refused);
  });

  it.each([
    ['a text that is not UTF-8', '61ff'],
    ['half a character', '62e29c'],
    ['a surrogate in a key', 'a163eda08001'],
    ['a key __proto__', 'a1695f5f70726f746f5f5f01'],
    ['NaN', 'fb7ff8000000000000'],
    ['infinity in 16 bits', 'f97c00'],
  ])('leaves %s to whoever decodes', (_, hex) => {
    const blob = withPayloadValue(Buffer.from(hex, 'hex'));
    expect(peek(blob)).toStrictEqual(headOf(plainPacket));
    expect(() => codec.decode(blob)).toThrow(refused);
  });

  it('refuses a payload that is no map', () => {
    const blob = Buffer.from(codec.encode({ ...plainPacket, payload: {} }));
    blob[blob.length - 1] = 0x80;
    expect(() => codec.decode(blob)).toThrow(refused);
    expect(() => peek(blob)).toThrow(refused);
  });

  it('takes a payload nested to the limit and refuses one level more', () => {
    const nested = (depth: number) =>
      withPayloadValue(Buffer.concat([Buffer.alloc(depth, 0x81), Buffer.of(0x80)]));
    // The payload itself is one level, and so is the empty list at the end.
    expect(codec.decode(nested(MAX_PAYLOAD_DEPTH - 2))).toBeTruthy();
    expect(peek(nested(MAX_PAYLOAD_DEPTH - 2))).toStrictEqual(headOf(plainPacket));
    for (const depth of [MAX_PAYLOAD_DEPTH - 1, 1_000_000]) {
      expect(() => codec.decode(nested(depth))).toThrow(refused);
      expect(() => peek(nested(depth))).toThrow(refused);
    }
  });

  it.each([
    ['in the token', '17', 23],
    ['in one byte', '18ff', 255],
    ['in two bytes', '190100', 256],
    ['in four bytes', '1affffffff', 2 ** 32 - 1],
    ['in eight bytes', '1b001fffffffffffff', Number.MAX_SAFE_INTEGER],
    ['in more bytes than it needs', '1b0000000000000005', 5],
    ['as a whole float16', 'f94a00', 12],
    ['as a whole float32', 'fa41400000', 12],
    ['as a whole float64', 'fb4028000000000000', 12],
  ])('reads tokens written %s', (_, hex, tokens) => {
    expect(peek(withTokens(hex)).token_used).toBe(tokens);
    expect(codec.decode(withTokens(hex)).token_used).toBe(tokens);
  });

  it.each([
    ['below 0', '20'],
    ['below 0 in 16 bits', '39ffff'],
    ['beyond counting', '1b0020000000000000'],
    ['by half', 'f93800'],
    ['not a number', 'f97e00'],
    ['as text', '6137'],
    ['as nothing', 'f6'],
  ])('refuses tokens %s, in a peek too', (_, hex) => {
    expect(() => codec.decode(withTokens(hex))).toThrow(refused);
    expect(() => peek(withTokens(hex))).toThrow(refused);
  });

  it('fulfils the contract where cbor-x has no native part', () => {
    const script = `
      import { isNativeAccelerationEnabled } from 'cbor-x';
      import { contractChecks } from './contract.ts';
      import { cbor } from './cbor.ts';
      for (const check of contractChecks(cbor)) check.run();
      console.log(isNativeAccelerationEnabled);
    `;
    const output = execFileSync(process.execPath, ['--input-type=module-typescript', '--eval', script], {
      cwd: import.meta.dirname,
      env: { ...process.env, CBOR_NATIVE_ACCELERATION_DISABLED: 'true' },
      encoding: 'utf8',
    });
    expect(output.trim()).toBe('false');
  });
});

const vectorsSchema = z.object({
  vectors: z.array(z.object({ hex: z.string(), decoded: z.json().exactOptional() })),
});
const appendix = sharedJson('codec/cbor-appendix-a.json');
/** Tags, byte strings, lengths that are not said, simple values, numbers as keys, NaN and infinity: no JSON, or not needed for it. */
const beyondJson =
  /^(?:[cd]|4|5f|7f|9f|bf|83018202039f|83019f|826161bf|f[078]|a20102|f97[ce]|f9fc|fa7f[8c]|faff|fb[7f]ff)/;

describe.skipIf(appendix === undefined)('vectors of RFC 8949, Appendix A', () => {
  const { vectors } = vectorsSchema.parse(appendix ?? { vectors: [] });

  it.each(vectors)('$hex', ({ hex, decoded }) => {
    const blob = withPayloadValue(Buffer.from(hex, 'hex'));
    if (beyondJson.test(hex)) expect(() => codec.decode(blob)).toThrow(refused);
    else expect(JSON.stringify(codec.decode(blob).payload)).toBe(JSON.stringify({ a: decoded }));
  });
});

const encodingsSchema = z.object({
  encodings: z.array(
    z.object({ name: z.string(), json: z.string(), cbor: z.record(z.string(), z.string()) }),
  ),
});
const encodings = sharedJson('encodings.json');

describe.skipIf(encodings === undefined)('what other implementations wrote', () => {
  for (const { name, json, cbor } of encodingsSchema.parse(encodings ?? { encodings: [] }).encodings) {
    it.each(Object.entries(cbor))(`${name} by %s`, (_, hex) => {
      const blob = Buffer.from(hex, 'hex');
      const packet = codec.decode(blob);
      expect(packet).toStrictEqual(JSON.parse(json));
      expect(peek(blob)).toStrictEqual(headOf(packet));
    });
  }
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
