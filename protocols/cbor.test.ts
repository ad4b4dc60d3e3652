import { copyHead, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { Encoder } from 'cbor-x';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { cbor } from './cbor.ts';
import { plainPacket, randomPackets } from './testing/packets.ts';
import { opened, refused } from './testing/session.ts';
import { sharedJson } from './testing/shared-file.ts';

const { codec, peek } = opened(cbor);

/** Returns a packet whose payload is `{a: …}` with these bytes for the value. */
function withPayloadValue(value: Uint8Array): Buffer {
  const blob = codec.encode({ ...plainPacket, payload: {} });
  return Buffer.concat([blob.subarray(0, -1), Buffer.of(0xa1, 0x61, 0x61), value]);
}

/** Returns a packet whose `token_used` is written with these bytes. */
function withTokens(hex: string): Buffer {
  const blob = Buffer.from(codec.encode(plainPacket));
  const at = blob.indexOf('token_used') + 'token_used'.length;
  return Buffer.concat([blob.subarray(0, at), Buffer.from(hex, 'hex'), blob.subarray(at + 1)]);
}

function integral(packet: Packet): object {
  const integer = (value: number) => (value >= 2 ** 32 ? BigInt(value) : value);
  return { ...packet, token_used: integer(packet.token_used), ts: integer(packet.ts) };
}

describe('cbor', () => {
  it('writes what a plain CBOR writer writes that has whole numbers of the envelope as integers', () => {
    const plain = new Encoder({ useRecords: false, variableMapSize: true });
    for (const packet of randomPackets(200))
      expect(Buffer.from(codec.encode(packet)).equals(plain.encode(integral(packet)))).toBe(true);
  });

  it('writes times and tokens beyond 32 bits as integers, too', () => {
    const numbers = [2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER];
    ['1affffffff', '1b0000000100000000', '1b001fffffffffffff'].forEach((hex, i) => {
      const packet = { ...plainPacket, token_used: numbers[i] ?? 0, ts: numbers[i] ?? 0 };
      const blob = Buffer.from(codec.encode(packet));
      expect(blob.toString('hex').split(hex)).toHaveLength(3);
      expect(codec.decode(blob)).toStrictEqual(packet);
    });
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
    ['a text that is not UTF-8', '61ff'],
    ['half a character', '62e29c'],
    ['a surrogate in a key', 'a163eda08001'],
    ['a key __proto__', 'a1695f5f70726f746f5f5f01'],
    ['NaN', 'fb7ff8000000000000'],
    ['infinity in 16 bits', 'f97c00'],
  ])('refuses %s, which a peek does not look at', (_, hex) => {
    const blob = withPayloadValue(Buffer.from(hex, 'hex'));
    expect(() => codec.decode(blob)).toThrow(refused);
    expect(peek(blob)).toStrictEqual(copyHead(plainPacket));
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
});

const vectorsSchema = z.object({
  vectors: z.array(z.object({ hex: z.string(), decoded: z.json().exactOptional() })),
});
const appendix = sharedJson('codec/cbor-appendix-a.json');
/**
 * Matches tags, byte strings, indefinite lengths, simple values, numbers as keys, NaN and infinity: values
 * that JSON does not have or need.
 */
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
      expect(peek(blob)).toStrictEqual(copyHead(packet));
    });
  }
});
