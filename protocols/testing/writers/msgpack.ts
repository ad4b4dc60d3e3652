import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import type { EnvelopeWriter } from '../../contract/suite.ts';
import { nestedLists, tokens } from './tokens.ts';

/** Writes MessagePack with any width that holds a length or a number. */
export const msgpackWriter: EnvelopeWriter = {
  write: (envelope, choose) => written(envelope, choose),
  nest: (envelope, depth) =>
    nestedLists(
      written(envelope, () => 0),
      [0xa6, 0x91, 0x90],
      depth,
    ),
  pieces: tokens(
    ...[
      0x7f, 0x80, 0x8f, 0x90, 0x91, 0xa0, 0xa4, 0xc0, 0xc1, 0xc4, 0xc7, 0xca, 0xcf, 0xd4, 0xd6, 0xd9, 0xdd,
      0xdf,
    ],
    0xe0,
  ),
};

type Choose = Parameters<EnvelopeWriter['write']>[1];

function written(value: JsonValue, choose: Choose): Buffer {
  if (value === null) return Buffer.of(0xc0);
  if (typeof value === 'boolean') return Buffer.of(value ? 0xc3 : 0xc2);
  if (typeof value === 'number') return writtenNumber(value, choose);
  if (typeof value === 'string') {
    const text = Buffer.from(value);
    return Buffer.concat([sized(text.length, [0xa0, 32], [0xd9, 0xda, 0xdb], choose), text]);
  }
  if (Array.isArray(value)) {
    const header = sized(value.length, [0x90, 16], [undefined, 0xdc, 0xdd], choose);
    return Buffer.concat([header, ...value.map((item) => written(item, choose))]);
  }
  const entries = Object.entries(value);
  const header = sized(entries.length, [0x80, 16], [undefined, 0xde, 0xdf], choose);
  return Buffer.concat([
    header,
    ...entries.flatMap(([key, item]) => [written(key.replace(/^§/, ''), choose), written(item, choose)]),
  ]);
}

function sized(
  length: number,
  [fixed, below]: readonly [number, number],
  [one, two = 0, four = 0]: readonly (number | undefined)[],
  choose: Choose,
): Buffer {
  const least = length < below ? 0 : length < 256 && one !== undefined ? 1 : length < 65_536 ? 2 : 3;
  const width = least + choose(4 - least);
  if (width === 0) return Buffer.of(fixed + length);
  if (width === 1 && one !== undefined) return Buffer.of(one, length);
  const header = Buffer.alloc(width === 3 ? 5 : 3, width === 3 ? four : two);
  header.writeUIntBE(length, 1, header.length - 1);
  return header;
}

function writtenNumber(value: number, choose: Choose): Buffer {
  const double = Buffer.alloc(9, 0xcb);
  double.writeDoubleBE(value, 1);
  const forms: Buffer[] = [double];
  if (Math.fround(value) === value) {
    const single = Buffer.alloc(5, 0xca);
    single.writeFloatBE(value, 1);
    forms.push(single);
  }
  if (Number.isSafeInteger(value)) forms.push(...wholeNumbers(value));
  return forms[choose(forms.length)] ?? double;
}

function wholeNumbers(value: number): Buffer<ArrayBuffer>[] {
  const long = Buffer.alloc(9, 0xd3);
  long.writeBigInt64BE(BigInt(value), 1);
  const forms: Buffer<ArrayBuffer>[] = [long];
  if (value >= 0) forms.push(Buffer.concat([Buffer.of(0xcf), long.subarray(1)]));
  for (const [i, width] of [1, 2, 4].entries()) {
    const range = 2 ** (8 * width);
    if (value >= -range / 2 && value < range / 2) {
      const signed = Buffer.alloc(1 + width, 0xd0 + i);
      signed.writeIntBE(value, 1, width);
      forms.push(signed);
    }
    if (value >= 0 && value < range) {
      const unsigned = Buffer.alloc(1 + width, 0xcc + i);
      unsigned.writeUIntBE(value, 1, width);
      forms.push(unsigned);
    }
  }
  if (value >= -32 && value < 128) forms.push(Buffer.of(value & 0xff));
  return forms;
}
