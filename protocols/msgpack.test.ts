import { copyHead, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { Packr } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import { msgpack } from './msgpack.ts';
import { plainPacket, randomPackets } from './testing/packets.ts';
import { opened, refused } from './testing/session.ts';

const { codec, peek } = opened(msgpack);

/** Builds bytes from numbers and texts: `bytes(0x81, 'a', 1)`; a text gets its one-byte header. */
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

/** Returns a packet whose payload is `{a: …}` with these bytes for the value. */
function withPayloadValue(...value: (number | string | Uint8Array)[]): Buffer {
  const { payload: _, ...envelope } = plainPacket;
  const blob = codec.encode({ ...envelope, payload: {} });
  return bytes(blob.subarray(0, -1), 0x81, 'a', ...value);
}

/** Returns a packet whose `token_used` is written with these bytes. */
function withTokens(...value: number[]): Buffer {
  const blob = Buffer.from(codec.encode(plainPacket));
  const at = blob.indexOf('token_used') + 'token_used'.length;
  return Buffer.concat([blob.subarray(0, at), Buffer.from(value), blob.subarray(at + 1)]);
}

function integral(packet: Packet): object {
  const integer = (value: number) => (value >= 2 ** 32 ? BigInt(value) : value);
  return { ...packet, token_used: integer(packet.token_used), ts: integer(packet.ts) };
}

describe('msgpack', () => {
  it('writes what a plain MessagePack writer writes that has whole numbers of the envelope as integers', () => {
    const plain = new Packr({ useRecords: false, variableMapSize: true, useToJSON: false });
    for (const packet of randomPackets(200))
      expect(Buffer.from(codec.encode(packet)).equals(plain.pack(integral(packet)))).toBe(true);
  });

  it('writes times and tokens beyond 32 bits as integers, too', () => {
    const numbers = [2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER];
    ['ceffffffff', 'd30000000100000000', 'd3001fffffffffffff'].forEach((hex, i) => {
      const packet = { ...plainPacket, token_used: numbers[i] ?? 0, ts: numbers[i] ?? 0 };
      const blob = Buffer.from(codec.encode(packet));
      expect(blob.toString('hex').split(hex)).toHaveLength(3);
      expect(codec.decode(blob)).toStrictEqual(packet);
    });
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
    ['a text that is not UTF-8', [0xa1, 0xff]],
    ['half a character', [0xa2, 0xe2, 0x9c]],
    ['a surrogate in a key', [0x81, 0xa3, 0xed, 0xa0, 0x80, 1]],
    ['a key __proto__', [0x81, '__proto__', 1]],
    ['NaN', [0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0]],
    ['infinity', [0xca, 0x7f, 0x80, 0, 0]],
  ])('refuses %s, which a peek does not look at', (_, value) => {
    const blob = withPayloadValue(...value);
    expect(() => codec.decode(blob)).toThrow(refused);
    expect(peek(blob)).toStrictEqual(copyHead(plainPacket));
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
});
