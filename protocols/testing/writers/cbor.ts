import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import type { EnvelopeWriter } from '../../contract/suite.ts';
import { nestedLists, tokens } from './tokens.ts';

/** Writes CBOR with any width that holds a length or a number. */
export const cborWriter: EnvelopeWriter = {
  write: (envelope, choose) => written(envelope, choose),
  nest: (envelope, depth) =>
    nestedLists(
      written(envelope, () => 0),
      [0x66, 0x81, 0x80],
      depth,
    ),
  pieces: tokens(
    ...[
      0x17, 0x18, 0x1b, 0x1f, 0x3b, 0x40, 0x5f, 0x60, 0x7b, 0x7f, 0x80, 0x81, 0x9f, 0xa0, 0xbf, 0xc1, 0xd8,
      0xd9,
    ],
    ...[0xf4, 0xf7, 0xf8, 0xf9, 0xff],
  ),
};

type Choose = Parameters<EnvelopeWriter['write']>[1];

function written(value: JsonValue, choose: Choose): Buffer {
  if (value === null) return Buffer.of(0xf6);
  if (typeof value === 'boolean') return Buffer.of(value ? 0xf5 : 0xf4);
  if (typeof value === 'number') return writtenNumber(value, choose);
  if (typeof value === 'string') {
    const text = Buffer.from(value);
    return Buffer.concat([token(3, text.length, choose), text]);
  }
  if (Array.isArray(value))
    return Buffer.concat([token(4, value.length, choose), ...value.map((item) => written(item, choose))]);
  const entries = Object.entries(value);
  return Buffer.concat([
    token(5, entries.length, choose),
    ...entries.flatMap(([key, item]) => [written(key.replace(/^§/, ''), choose), written(item, choose)]),
  ]);
}

function token(major: number, argument: number, choose: Choose): Buffer {
  const least = argument < 24 ? 0 : argument < 256 ? 1 : argument < 65_536 ? 2 : argument < 2 ** 32 ? 3 : 4;
  // A text whose length takes eight bytes is refused.
  const width = least + choose((major === 3 ? 4 : 5) - least);
  if (width === 0) return Buffer.of((major << 5) | argument);
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(argument));
  return Buffer.concat([Buffer.of((major << 5) | (23 + width)), bytes.subarray(8 - 2 ** (width - 1))]);
}

function writtenNumber(value: number, choose: Choose): Buffer {
  const double = Buffer.alloc(9, 0xfb);
  double.writeDoubleBE(value, 1);
  const forms: Buffer[] = [double];
  if (Math.fround(value) === value) {
    const single = Buffer.alloc(5, 0xfa);
    single.writeFloatBE(value, 1);
    forms.push(single);
  }
  if (Number.isSafeInteger(value))
    forms.push(value >= 0 ? token(0, value, choose) : token(1, -1 - value, choose));
  return forms[choose(forms.length)] ?? double;
}
