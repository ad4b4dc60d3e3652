import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { brotliCompressSync, constants, deflateRawSync, zstdCompressSync } from 'node:zlib';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { cpuMs } from '@gaia-mesh/core/testing/cpu-time.ts';
import { describe, expect, it, test } from 'vitest';
import * as z from 'zod';
import { sharedJson } from '../testing/shared-file.ts';
import { createCompressionLayer, dictionaryV1 } from './compression.ts';
import type { Layer, LayerCodec } from './layer.ts';

function open(layer: Layer): LayerCodec {
  const key = new Uint8Array(32);
  return layer.open({ runId: 'test', self: 'a', peer: 'b', linkKey: key, runKey: key, offers: new Map() });
}

const refusal = (reason: RegExp | string) =>
  expect.objectContaining({ code: 'packet', message: expect.stringMatching(reason) });

/** Returns bytes that no format can compress. */
function noise(length: number): Buffer {
  let state = 1;
  return Buffer.from(
    Array.from({ length }, () => {
      state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
      return state >> 16;
    }),
  );
}

const packet = Buffer.from(
  JSON.stringify({ type: 'events', payload: { list: new Array(200).fill('some text') } }),
);
const compressors: Record<string, (bytes: Uint8Array) => Buffer> = {
  deflate: (bytes) => deflateRawSync(bytes),
  zstd: (bytes) => zstdCompressSync(bytes),
  brotli: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
};
const zeros = Buffer.alloc(2 * MAX_FRAME_BYTES);
const hashOf = (dictionary: Uint8Array) => createHash('sha256').update(dictionary).digest().subarray(0, 4);
const MIB = 1024 * 1024;

describe.each(['deflate', 'zstd', 'brotli'] as const)('%s', (name) => {
  const codec = open(createCompressionLayer(name));
  const compress = (bytes: Uint8Array) => compressors[name]?.(bytes) ?? Buffer.alloc(0);

  it('makes a large packet smaller and gives it back', () => {
    const sealed = codec.seal(packet);

    expect(sealed[0]).toBe(1);
    expect(sealed.length).toBeLessThan(packet.length / 4);
    expect(codec.unseal(sealed).bytes).toEqual(packet);
  });

  it.each([0, 1, 1023])('stores %i bytes behind one flag', (length) => {
    const bytes = Buffer.alloc(length, 'a');
    const sealed = codec.seal(bytes);

    expect(sealed).toEqual(Buffer.concat([Buffer.of(0), bytes]));
    expect(Buffer.from(codec.unseal(sealed).bytes)).toEqual(bytes);
  });

  it('begins to compress at 1024 bytes', () => {
    expect(codec.seal(Buffer.alloc(1024, 'a')).length).toBeLessThan(100);
  });

  it('stores what would not become smaller', () => {
    const bytes = noise(5000);

    expect(codec.seal(bytes)).toEqual(Buffer.concat([Buffer.of(0), bytes]));
  });

  it.each([2, 3, 255])('refuses the flag %i', (flag) => {
    const sealed = Buffer.from(codec.seal(packet));
    sealed[0] = flag;

    expect(() => codec.unseal(sealed)).toThrow(refusal('flag'));
  });

  it('refuses what unpacks to more than a frame, in bounded time and memory', () => {
    const bomb = Buffer.concat([
      Buffer.of(1),
      compress(Buffer.concat([noise(MAX_FRAME_BYTES / 100), zeros])),
    ]);
    const before = process.memoryUsage().rss;
    const startMs = cpuMs();

    expect(bomb.length).toBeLessThan(MAX_FRAME_BYTES / 50);
    expect(() => codec.unseal(bomb)).toThrow(refusal('larger than'));
    expect(process.memoryUsage().rss - before).toBeLessThan(3 * MAX_FRAME_BYTES);
    expect(cpuMs() - startMs).toBeLessThan(10_000);
  });

  it('takes the largest packet and not a byte more', () => {
    const start = noise(MAX_FRAME_BYTES / 100);
    const sealed = (length: number) =>
      Buffer.concat([
        Buffer.of(1),
        compress(Buffer.concat([start, zeros.subarray(0, length - start.length)])),
      ]);

    expect(codec.unseal(sealed(MAX_FRAME_BYTES)).bytes.length).toBe(MAX_FRAME_BYTES);
    expect(() => codec.unseal(sealed(MAX_FRAME_BYTES + 1))).toThrow(refusal('larger than'));
  });

  it('refuses what unpacks to more than 1 MiB and 256 times its size', () => {
    const sealed = (start: Uint8Array, length: number) => {
      const compressed = compress(Buffer.concat([start, zeros.subarray(0, length - start.length)]));
      return { bytes: Buffer.concat([Buffer.of(1), compressed]), ratio: length / compressed.length };
    };
    const nothing = Buffer.alloc(0);

    expect(codec.unseal(sealed(nothing, MIB).bytes).bytes.length).toBe(MIB);
    expect(() => codec.unseal(sealed(nothing, MIB + 1).bytes)).toThrow(refusal('larger than 1048576 bytes'));

    const below = sealed(noise(100_000), 16 * MIB);
    const above = sealed(noise(100_000), 40 * MIB);
    expect([below.ratio < 256, above.ratio > 256]).toEqual([true, true]);
    expect(codec.unseal(below.bytes).bytes.length).toBe(16 * MIB);
    expect(() => codec.unseal(above.bytes)).toThrow(refusal('larger than'));
  });

  it('stores what receivers would refuse to unpack', () => {
    const long = zeros.subarray(0, 2 * MIB);

    // DEFLATE at our level never makes anything so small.
    expect(codec.seal(long)[0]).toBe(name === 'deflate' ? 1 : 0);
    expect(codec.unseal(codec.seal(long)).bytes.length).toBe(2 * MIB);
    expect(codec.seal(zeros.subarray(0, MIB))[0]).toBe(1);
  });

  describe('with a dictionary', () => {
    const dictionary = open(createCompressionLayer(name, dictionaryV1));
    const small = Buffer.from(
      '{"type":"events","from":"1","id":"1-7","task_id":"t-1","token_used":12,"log_uri":"workspaces/1/extract.log","ts":1788220802210,"payload":{"question":"Who?","events":[{"chunk":0,"text":"Ann","score":10}]}}',
    );

    it('makes a small packet smaller, too', () => {
      const sealed = dictionary.seal(small);

      expect(sealed.length).toBeLessThan(small.length * 0.85);
      expect(dictionary.unseal(sealed).bytes).toEqual(small);
    });

    it('carries the dictionary’s hash', () => {
      const sealed = Buffer.from(dictionary.seal(small));

      expect(sealed.subarray(0, 5)).toEqual(Buffer.concat([Buffer.of(2), hashOf(dictionaryV1)]));
    });

    it('refuses what was compressed with another one', () => {
      const longer = Buffer.concat([dictionaryV1, Buffer.of(33)]);
      const other = open(createCompressionLayer(name, longer));

      expect(() => other.unseal(dictionary.seal(small))).toThrow(refusal('another dictionary'));
      expect(() => dictionary.unseal(other.seal(small))).toThrow(refusal('another dictionary'));
    });

    it('refuses what was compressed without, and the other way round', () => {
      expect(() => dictionary.unseal(codec.seal(packet))).toThrow(refusal('flag'));
      expect(() => codec.unseal(dictionary.seal(packet))).toThrow(refusal('flag'));
    });
  });
});

test('the dictionary is a fixed one', () => {
  // A change of the dictionary makes frames that earlier versions refuse, so it belongs into the changelog.
  expect(hashOf(dictionaryV1).toString('hex')).toBe('0e1d19b6');
  expect(dictionaryV1.length).toBeLessThan(4096);
});

describe('streams that other libraries wrote', () => {
  const shared = sharedJson('compress/vectors.json');
  const dictionaryFile = new URL('../../../shared/data/proto/compress/dictionary-v1.bin', import.meta.url);
  const schema = z.object({
    vectors: z.array(z.looseObject({ name: z.string(), plain_json: z.string() })).min(5),
  });
  const streams = z.record(z.string(), z.string());

  it.skipIf(shared === undefined || !existsSync(dictionaryFile))('are read', () => {
    const given = readFileSync(dictionaryFile);
    const codecs: Record<string, LayerCodec> = {
      deflate_raw: open(createCompressionLayer('deflate')),
      zstd: open(createCompressionLayer('zstd')),
      brotli: open(createCompressionLayer('brotli')),
      deflate_raw_dict: open(createCompressionLayer('deflate', given)),
      zstd_dict: open(createCompressionLayer('zstd', given)),
      brotli_dict: open(createCompressionLayer('brotli', given)),
    };
    const read = new Set<string>();
    for (const { name: _name, plain_json, ...makers } of schema.parse(shared).vectors) {
      for (const made of Object.values(makers)) {
        for (const [format, stream] of Object.entries(streams.parse(made))) {
          const header = format.endsWith('_dict') ? [Buffer.of(2), hashOf(given)] : [Buffer.of(1)];
          const sealed = Buffer.concat([...header, Buffer.from(stream, 'hex')]);
          expect(Buffer.from(codecs[format]?.unseal(sealed).bytes ?? []).toString()).toBe(plain_json);
          read.add(format);
        }
      }
    }
    expect([...read].sort()).toEqual(Object.keys(codecs).sort());
  });
});
