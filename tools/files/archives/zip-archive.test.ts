import { crc32, deflateRawSync } from 'node:zlib';
import { FILE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import fc from 'fast-check';
import JSZip from 'jszip';
import { describe, expect, test } from 'vitest';
import { loaded, zipOf } from '../testing/documents.ts';
import { checkZip, openZip } from './zip-archive.ts';

/** Sets a field of the first central file header, and of its local one. */
function patched(
  bytes: Uint8Array,
  central: number,
  local: number | undefined,
  value: number,
  width: 2 | 4 = 2,
): Uint8Array {
  const view = Buffer.from(bytes);
  const write = (at: number) => (width === 2 ? view.writeUInt16LE(value, at) : view.writeUInt32LE(value, at));
  write(view.indexOf('PK\x01\x02') + central);
  if (local !== undefined) write(local);
  return view;
}

const read = (bytes: Uint8Array) => {
  const members = openZip(loaded('a.zip', bytes));
  return Object.fromEntries(members.map((member) => [member.name, Buffer.from(member.read()).toString()]));
};

describe('openZip', () => {
  test('reads what another program wrote, stored or deflated', async () => {
    const members = fc.dictionary(
      fc.stringMatching(/^[a-z0-9]{1,8}$/),
      fc.string({ unit: 'binary', maxLength: 300 }),
      { maxKeys: 6 },
    );
    await fc.assert(
      fc.asyncProperty(
        members,
        fc.constantFrom('STORE', 'DEFLATE'),
        fc.string({ maxLength: 50 }),
        async (files, compression, comment) => {
          const zip = new JSZip();
          for (const [name, text] of Object.entries(files)) zip.file(name, text);
          const bytes = new Uint8Array(
            await zip.generateAsync({ type: 'arraybuffer', compression, comment }),
          );
          expect(read(bytes)).toEqual({ ...files });
        },
      ),
      { seed: 6, numRuns: 60 },
    );
  });

  test('finds an archive behind other bytes, and names in other letters', async () => {
    const bytes = Buffer.concat([Buffer.from('#!/bin/sh\n'), await zipOf({ 'gr\u00fc\u00df.txt': 'x' })]);
    expect(read(bytes)).toEqual({ 'gr\u00fc\u00df.txt': 'x' });
  });

  test('tells folders, encrypted members and names that lead outside apart', async () => {
    const [member] = openZip(loaded('a.zip', patched(await zipOf({ '..up.txt': 'x' }), 8, undefined, 1)));
    expect(member).toMatchObject({ name: '..up.txt', isEncrypted: true, isSafe: true });
    const zip = openZip(loaded('a.zip', await zipOf({ 'sub/b.txt': 'x' })));
    expect(zip.map(({ name, isFolder }) => [name, isFolder])).toEqual([
      ['sub/', true],
      ['sub/b.txt', false],
    ]);
  });

  test.each(['../a', 'a/../../b', '/etc/passwd', '\\a', 'a\\..\\b', 'C:\\a', 'a\nb'])(
    '%j is no safe name (RA-52)',
    async (name) => {
      const members = openZip(loaded('a.zip', await zipOf({ [name]: 'x' })));
      const member = members.find(({ isFolder }) => !isFolder);
      expect(member?.isSafe).toBe(false);
      if (member !== undefined) expect(() => member.read()).toThrow('leads outside');
    },
  );

  test.each([
    ['an unknown method', (bytes: Uint8Array) => patched(bytes, 10, undefined, 99), 'is packed by method 99'],
    ['a wrong checksum', (bytes: Uint8Array) => patched(bytes, 16, undefined, 1, 4), 'its checksum is wrong'],
    ['a size beyond the end', (bytes: Uint8Array) => patched(bytes, 20, undefined, 1e6, 4), 'lies outside'],
    ['a place beyond the end', (bytes: Uint8Array) => patched(bytes, 42, undefined, 1e6, 4), 'lies outside'],
    ['encryption', (bytes: Uint8Array) => patched(bytes, 8, 6, 1), 'is encrypted'],
    ['a stream that is none', (bytes: Uint8Array) => patched(bytes, 10, undefined, 8), 'cannot be unpacked'],
  ])('a member with %s is refused', async (_what, damage, message) => {
    const zip = new JSZip().file('a.txt', '\xff\xff stored');
    const bytes = new Uint8Array(await zip.generateAsync({ type: 'arraybuffer', compression: 'STORE' }));
    expect(() => read(damage(bytes))).toThrow(message);
  });

  test('an archive that was cut off anywhere is refused', async () => {
    const bytes = await zipOf({ 'a.txt': 'hello', 'b.txt': 'world' });
    for (let length = 0; length < bytes.length; length++) {
      expect(() => checkZip(loaded('a.zip', bytes.subarray(0, length))), `${length} bytes`).toThrow(/a\.zip/);
    }
  });

  test('a member is unpacked up to its bound, and not a byte further', () => {
    const bombOf = (length: number) => handMade([deflateRawSync(Buffer.alloc(length), { level: 1 })]);
    expect(() => checkZip(loaded('a.zip', bombOf(FILE_LIMITS.bytes + 1)))).toThrow(
      `unpacks to more than ${FILE_LIMITS.bytes} bytes`,
    );
    // The member is unpacked as a whole, despite the size in its header, and its checksum is wrong.
    expect(() => checkZip(loaded('a.zip', bombOf(FILE_LIMITS.bytes)))).toThrow('its checksum is wrong');
  });

  test('all members together have a bound', () => {
    const zeros = Buffer.alloc(60 * 1024 * 1024);
    const packed = deflateRawSync(zeros, { level: 1 });
    const bytes = handMade(
      Array.from({ length: 5 }, () => packed),
      crc32(zeros),
    );
    expect(() => checkZip(loaded('a.zip', bytes))).toThrow(/^m4 of a\.zip unpacks to more than \d+ bytes/);
  });

  test('the number of members has a bound', () => {
    const end = Buffer.from(handMade([Buffer.alloc(0)]));
    const at = end.indexOf('PK\x05\x06');
    end.writeUInt16LE(FILE_LIMITS.members + 1, at + 8);
    end.writeUInt16LE(FILE_LIMITS.members + 1, at + 10);
    expect(() => openZip(loaded('a.zip', end))).toThrow(
      `it has ${FILE_LIMITS.members + 1} members: up to ${FILE_LIMITS.members} are read`,
    );
  });
});

/** Builds an archive with deflated members `m0`, `m1`, …, each of which states a size of 1 for any stream. */
function handMade(streams: readonly Buffer[], crc = 0): Uint8Array {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [i, stream] of streams.entries()) {
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(2, 26);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt16LE(8, 10);
    central.writeUInt32LE(crc, 16);
    central.writeUInt32LE(stream.length, 20);
    central.writeUInt32LE(1, 24);
    central.writeUInt16LE(2, 28);
    central.writeUInt32LE(at, 42);
    const name = Buffer.from(`m${i}`);
    locals.push(local, name, stream);
    directory.push(central, name);
    at += 32 + stream.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(streams.length, 8);
  end.writeUInt16LE(streams.length, 10);
  end.writeUInt32LE(48 * streams.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, ...directory, end]);
}
