import { describe, expect, it } from 'vitest';
import { readHead } from '../core/adapter.ts';
import { openMembers } from '../core/members.ts';
import { fullPacket } from './contract-samples.ts';
import { adapterNamed, adapterNames } from './registry.ts';

/** Far more than it takes, also on a busy machine; far less than anything that grows with the square of the bytes. */
const MAX_CPU_MS = 10_000;
const MILLION = 1_000_000;

const shortRefusal = expect.objectContaining({
  code: 'packet',
  message: expect.stringMatching(/^.{1,1200}$/su),
});
const packet = { ...fullPacket, from: 'a', to: 'hub' };

describe.each(adapterNames)('%s', async (name) => {
  const codecs = openMembers(await adapterNamed(name), 'hostile', ['a']);
  const [writer, reader] = [codecs.get('a'), codecs.get('hub')];
  if (writer === undefined || reader === undefined) throw new Error('no codec');

  it('refuses an envelope with a million keys, in bounded time and with a short reason', () => {
    const blob = withManyKeys(name, Buffer.from(writer.encode(packet)));
    const before = process.cpuUsage();
    // As hub and agents do: a look at the head first, where the codec has one.
    expect(() => readHead(reader, blob)).toThrow(shortRefusal);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(MAX_CPU_MS);
  });

  const nest = nestings[name];
  it.skipIf(nest === undefined)('refuses a payload that is nested 100,000 deep', () => {
    const text = 'x'.repeat(200_000);
    const blob = Buffer.from(writer.encode({ ...packet, payload: { text } }));
    const at = blob.indexOf(text);
    expect(at).toBeGreaterThan(0);
    nest?.(blob, at, at + text.length);
    // A peek steps over the payload.
    expect(() => reader.decode(blob)).toThrow(shortRefusal);
  });
});

function withManyKeys(name: string, blob: Buffer): Uint8Array {
  switch (name) {
    case 'protobuf':
    case 'a2a-proto':
      // Field 15, a number.
      return Buffer.concat([blob, Buffer.alloc(2 * MILLION, Buffer.of(0x78, 0))]);
    case 'msgpack':
    case 'msgpack-records':
      return Buffer.concat([
        Buffer.from('df000f4240', 'hex'),
        Buffer.alloc(3 * MILLION, '\xa1k\x01', 'latin1'),
      ]);
    case 'cbor':
      return Buffer.concat([Buffer.from('ba000f4240', 'hex'), Buffer.alloc(3 * MILLION, 'ak\x01', 'latin1')]);
    case 'toon':
      return Buffer.concat([Buffer.from(manyKeys((i) => `k${i}: 0\n`)), blob]);
    default:
      return Buffer.concat([Buffer.from(`{${manyKeys((i) => `"k${i}":0,`)}`), blob.subarray(1)]);
  }
}

function manyKeys(member: (i: number) => string): string {
  return Array.from({ length: MILLION }, (_, i) => member(i)).join('');
}

type Nest = (blob: Buffer, start: number, end: number) => void;

/** Lists that open and close over the text and its quotes. */
const brackets: Nest = (blob, start, end) => {
  const middle = (start + end) / 2;
  blob.fill('[', start - 1, middle).fill(']', middle, end + 1);
};

/** Lists of one item over the text and its length of 32 bits; the last one is empty. */
const lists =
  (oneItem: number, noItem: number): Nest =>
  (blob, start, end) => {
    blob.fill(oneItem, start - 5, end - 1).fill(noItem, end - 1, end);
  };

/** What makes a nested value of a long text, in as many bytes. The others have tests of their own, or cannot nest without end. */
const nestings: Readonly<Record<string, Nest>> = {
  json: brackets,
  protobuf: brackets,
  a2a: brackets,
  mcp: brackets,
  anp: brackets,
  msgpack: lists(0x91, 0x90),
  'msgpack-records': lists(0x91, 0x90),
  cbor: lists(0x81, 0x80),
};
