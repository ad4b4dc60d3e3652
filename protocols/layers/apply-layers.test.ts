import { zstdCompressSync } from 'node:zlib';
import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { measureLine } from '@gaia-mesh/core/contracts/ledger.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { describe, expect, it, test } from 'vitest';
import { fullPacket } from '../contract/samples.ts';
import { checkSpec, loadAdapter } from '../registry.ts';
import { TestRun } from '../testing/members.ts';
import { applyLayers } from './apply-layers.ts';
import { createCompressionLayer } from './compression.ts';

const refused = (reason = '') =>
  expect.objectContaining({ code: 'packet', message: expect.stringContaining(reason) });
const packet = (id: number, from = 'a'): Packet => ({ ...fullPacket, from, id: `${from}-${id}` });

describe('the name of a stack', () => {
  test.each(['json', 'json+zstd', 'msgpack+zstd+ed25519', 'msgpack+deflate-dict+ed25519+aes-256-gcm+crc32c'])(
    '%s is the adapter’s name',
    async (spec) => expect((await loadAdapter(spec)).name).toBe(spec),
  );

  test.each([
    [
      'json+ed25519+zstd',
      ['zstd (compress) cannot follow ed25519 (sign)', 'compress, sign, encrypt, checksum'],
    ],
    ['json+crc32c+aes-256-gcm', ['aes-256-gcm (encrypt) cannot follow crc32c (checksum)']],
    ['json+zstd+zstd', ['zstd (compress) cannot follow zstd (compress)', 'at most one']],
    ['json+zstd+deflate', ['deflate (compress) cannot follow zstd (compress)']],
    ['json+gzip', ['unknown layer "gzip"', 'deflate', 'crc32c']],
    ['json+', ['unknown layer ""', 'zstd']],
    ['json+constructor', ['unknown layer "constructor"']],
    ['json +zstd', ['unknown adapter "json "']],
    ['zstd', ['zstd is a layer', 'ADAPTER, then', 'json, msgpack']],
    ['json+msgpack', ['msgpack is an adapter, and json is one', 'zstd']],
    ['yaml+zstd', ['unknown adapter "yaml"', 'json, msgpack']],
  ])('%s is refused, saying what would be right', async (spec, parts) => {
    const loaded = await loadAdapter(spec).catch((error: unknown) => error);
    expect(loaded).toMatchObject({ code: 'usage', message: expect.any(String) });
    for (const part of parts) expect(toErrorMessage(loaded)).toContain(part);
    expect(() => checkSpec(spec)).toThrow(expect.objectContaining({ message: toErrorMessage(loaded) }));
  });
});

describe('the bytes of layers', () => {
  test('are a line of the ledger, with all that compression saves', async () => {
    const codec = new TestRun(await loadAdapter('json+zstd+crc32c'), ['a']).codec('a');
    const large = { ...packet(1), payload: { text: 'again and '.repeat(1000) } };
    const blob = codec.encode(large);
    const line = measureLine(codec, large, blob.length, codec.layerBytes?.last);

    expect(line.layers).toBeLessThan(-9000);
    expect(line.payload_coding).toBe(0);
    expect(line.net).toBe(line.header_size + (line.layers - 5));
  });
});

/** These frames arrive in another order or form than they were sent. */
describe.each([
  { spec: 'json+ed25519', seesReplaysInPeek: false },
  { spec: 'json+aes-256-gcm', seesReplaysInPeek: true },
  { spec: 'msgpack+zstd+ed25519+chacha20-poly1305+crc32c', seesReplaysInPeek: true },
])('$spec', async ({ spec, seesReplaysInPeek }) => {
  const adapter = await loadAdapter(spec);
  const run = () => {
    const members = new TestRun(adapter, ['a', 'b', 'hub']);
    return { a: members.codec('a'), b: members.codec('b'), reader: members.codec('hub') };
  };

  it('lets a frame be looked at again', () => {
    const { a, reader } = run();
    const blob = a.encode(packet(1));

    for (const _look of [1, 2]) {
      expect(reader.peek?.(blob)).toMatchObject({ id: 'a-1' });
      expect(reader.decode(blob)).toEqual(packet(1));
    }
  });

  it('refuses the same bytes when they come again', () => {
    const { a, reader } = run();
    const blob = a.encode(packet(1));
    reader.peek?.(blob);
    reader.decode(blob);

    expect(() => reader.peek?.(Buffer.from(blob))).toThrow(refused('replayed'));
    expect(() => reader.decode(Buffer.from(blob))).toThrow(refused('replayed'));
  });

  it.runIf(seesReplaysInPeek)('refuses them where it only peeks', () => {
    const { a, reader } = run();
    const blob = a.encode(packet(1));
    reader.peek?.(blob);

    expect(() => reader.peek?.(Buffer.from(blob))).toThrow(refused('replayed'));
  });

  it('refuses an earlier frame after a later one, whichever object it is in', () => {
    const { a, reader } = run();
    const [first, second] = [a.encode(packet(1)), a.encode(packet(2))];
    reader.decode(first);
    reader.decode(second);

    expect(() => reader.decode(first)).toThrow(refused('replayed'));
    expect(() => reader.peek?.(first)).toThrow(refused('replayed'));
  });

  it('takes frames of which some went to others, from several senders at once', () => {
    const { a, b, reader } = run();
    const blobs = Array.from({ length: 20 }, (_, i) =>
      (i % 2 === 0 ? a : b).encode(packet(i, i % 2 === 0 ? 'a' : 'b')),
    );

    for (const blob of blobs.filter((_, i) => i % 3 !== 1)) expect(() => reader.decode(blob)).not.toThrow();
  });

  it('is not shut out by forged frames of a higher number', () => {
    const { a, reader } = run();
    const early = a.encode(packet(1));
    const forged = Buffer.from(a.encode(packet(2)));
    forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1;
    for (const look of [() => reader.peek?.(forged), () => reader.decode(forged)]) {
      try {
        look();
      } catch (error) {
        expect(error).toEqual(refused());
      }
    }

    expect(reader.decode(early)).toEqual(packet(1));
  });

  it('refuses a packet that says it is from another than its frame', () => {
    const { a, reader } = run();
    const blob = a.encode(packet(1, 'b'));

    expect(() => reader.peek?.(blob)).toThrow(refused('b, its frame is a'));
    expect(() => reader.decode(blob)).toThrow(refused('b, its frame is a'));
  });

  it('refuses a frame of somebody who is no member', () => {
    const { reader } = run();
    const stranger = new TestRun(adapter, ['a', 'b', 'hub']).codec('a');

    expect(() => reader.decode(stranger.encode(packet(1)))).toThrow(refused());
  });
});

describe('the parts’ offers', () => {
  const offering = (name: string, heard: unknown[]): ProtocolAdapter => ({
    name,
    open: () => {
      throw new Error('opened without joining');
    },
    join: ({ self }) => ({
      offer: `${name} of ${self}`,
      open: (session) => {
        heard.push([...session.offers]);
        return { encode: () => Buffer.alloc(0), decode: () => fullPacket, headerSize: () => 4 };
      },
    }),
  });

  it('reach each part under its name, and no other', async () => {
    const heard: unknown[] = [];
    const stack = applyLayers(offering('own', heard), [createCompressionLayer('zstd')]);
    new TestRun(stack, ['a', 'b']).codec('a');

    expect(heard).toEqual([
      [
        ['a', 'own of a'],
        ['b', 'own of b'],
      ],
    ]);
    expect(stack.join?.({ runId: 'r', self: 'a' }).offer).toEqual({ own: 'own of a' });
  });

  it.each([null, 'text', [], {}, { ed25519: 7 }])('are refused where one is %j', async (offer) => {
    const adapter = await loadAdapter('json+ed25519');
    const member = adapter.join?.({ runId: 'r', self: 'a' });
    const key = new Uint8Array(32);
    const offers = new Map([['mallory', offer]]);
    const open = () =>
      member?.open({ runId: 'r', self: 'a', peer: 'hub', linkKey: key, runKey: key, offers });

    // A member without an offer is unknown; one with an invalid offer is named.
    if (typeof offer === 'object' && offer !== null && 'ed25519' in offer) {
      expect(open).toThrow(
        expect.objectContaining({ code: 'handshake', message: expect.stringContaining('mallory') }),
      );
    } else {
      expect(open).not.toThrow();
    }
  });
});

test('a stack around a codec that cannot peek cannot peek either', () => {
  const blind: ProtocolAdapter = {
    name: 'blind',
    open: () => ({ encode: () => Buffer.of(1), decode: () => fullPacket, headerSize: () => 4 }),
  };
  const codec = new TestRun(applyLayers(blind, [createCompressionLayer('zstd')]), ['a']).codec('a');

  expect(codec.peek).toBeUndefined();
  expect(codec.decode(codec.encode(fullPacket))).toEqual(fullPacket);
});

test('a small frame that would unpack to a large one is refused by peek and decode', async () => {
  const members = new TestRun(await loadAdapter('json+zstd'), ['a', 'hub']);
  const text = JSON.stringify({ ...packet(1), payload: { text: 'x'.repeat(2 ** 20) } });
  // Our own encoder would store these bytes uncompressed.
  const bomb = Buffer.concat([Buffer.of(1), zstdCompressSync(text)]);
  const reader = members.codec('hub');

  expect(bomb.length).toBeLessThan(1000);
  expect(() => reader.peek?.(bomb)).toThrow(refused('larger than 1048576 bytes'));
  expect(() => reader.decode(bomb)).toThrow(refused('larger than 1048576 bytes'));
});
