import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { type Compressor, compressionLayer, dictionaryLayer } from './compression.ts';
import { type Dictionary, dictionaryV1 } from './dictionary.ts';
import type { Layer } from './layer.ts';

/** Quality 11, the default, takes 30 to 60 times as long. */
const params = { [constants.BROTLI_PARAM_QUALITY]: 4 };

/** Brotli (RFC 7932): knows common English and web texts without a dictionary of ours. */
const compressor: Compressor = {
  compress: (bytes, dictionary) => brotliCompressSync(bytes, { params, ...(dictionary && { dictionary }) }),
  decompress: (bytes, bounds, dictionary) =>
    brotliDecompressSync(bytes, { ...bounds, ...(dictionary && { dictionary }) }),
};

export const brotli: Layer = compressionLayer('brotli', compressor);
export const brotliDict: Layer = brotliWith(dictionaryV1);

export function brotliWith(dictionary: Dictionary): Layer {
  return dictionaryLayer('brotli-dict', compressor, dictionary);
}
