import { describe, expect, it, test } from 'vitest';
import * as z from 'zod';
import { testSession } from '../testing/session.ts';
import { sharedJson } from '../testing/shared-file.ts';
import { crc32c } from './crc32c.ts';

const hex = (text: string) => Buffer.from(text, 'hex');
const codec = crc32c.open(testSession);
const computeCrc = (bytes: Uint8Array) => Buffer.from(codec.seal(bytes)).readUInt32LE(bytes.length);

describe('CRC-32C', () => {
  // These are RFC 3720, B.4, which prints the bytes in the order of transmission, and the check value of the
  // polynomial.
  test.each([
    ['32 zeros', Buffer.alloc(32), 'aa36918a'],
    ['32 ones', Buffer.alloc(32, 0xff), '43aba862'],
    ['32 rising', Buffer.from(Array.from({ length: 32 }, (_, i) => i)), '4e79dd46'],
    ['32 falling', Buffer.from(Array.from({ length: 32 }, (_, i) => 31 - i)), '5cdb3f11'],
    ['123456789', Buffer.from('123456789'), '839206e3'],
    ['nothing', Buffer.alloc(0), '00000000'],
  ])('of %s stands behind the bytes as the RFC prints it', (_, bytes, crc) => {
    const sealed = Buffer.from(codec.seal(bytes));

    expect(sealed.toString('hex')).toBe(bytes.toString('hex') + crc);
    expect(codec.unseal(sealed).bytes).toEqual(bytes);
  });

  const shared = sharedJson('crypto/crc32c-rfc3720.json');
  it.skipIf(shared === undefined)('is that of the shared vectors', () => {
    const schema = z.object({
      vectors: z.array(z.object({ data: z.string(), crc_uint32_hex: z.string() })).min(5),
    });
    for (const { data, crc_uint32_hex } of schema.parse(shared).vectors) {
      expect(computeCrc(hex(data)).toString(16).padStart(8, '0')).toBe(crc_uint32_hex);
    }
  });

  it('is the same however the bytes lie in memory', () => {
    const bytes = Buffer.from('the quick brown fox jumps over the lazy dog'.repeat(3));
    for (let offset = 0; offset < 9; offset++) {
      for (let length = 0; length < 40; length++) {
        const shifted = Buffer.concat([Buffer.alloc(offset), bytes.subarray(0, length)]).subarray(offset);
        expect(computeCrc(shifted)).toBe(bytewise(bytes.subarray(0, length)));
      }
    }
  });

  it.each([0, 1, 2, 3])('is missing in %i bytes', (length) => {
    expect(() => codec.unseal(Buffer.alloc(length))).toThrow(expect.objectContaining({ code: 'packet' }));
  });
});

/** Computes the checksum bit by bit, from the definition. */
function bytewise(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return ~crc >>> 0;
}
