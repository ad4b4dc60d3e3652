import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { type Compressor, compressionLayer, dictionaryLayer } from './compression.ts';
import { type Dictionary, dictionaryV1 } from './dictionary.ts';
import type { Layer } from './layer.ts';

/** A frame may ask for a window of up to 2^26 bytes, the size of the largest packet; the memory is taken before it is used. */
const params = { [constants.ZSTD_d_windowLogMax]: 26 };

/** Zstandard (RFC 8878) at its default level, without a checksum: `crc32c` is for that. */
const compressor: Compressor = {
  compress: (bytes, dictionary) => zstdCompressSync(bytes, { ...(dictionary && { dictionary }) }),
  decompress: (bytes, bounds, dictionary) =>
    zstdDecompressSync(bytes, { ...bounds, params, ...(dictionary && { dictionary }) }),
};

export const zstd: Layer = compressionLayer('zstd', compressor);
export const zstdDict: Layer = zstdWith(dictionaryV1);

export function zstdWith(dictionary: Dictionary): Layer {
  return dictionaryLayer('zstd-dict', compressor, dictionary);
}
