import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type Compressor, compressionLayer, dictionaryLayer } from './compression.ts';
import { type Dictionary, dictionaryV1 } from './dictionary.ts';
import type { Layer } from './layer.ts';

/** Raw DEFLATE (RFC 1951): no header and no checksum of its own. Level 1: higher ones take longer for a few bytes less. */
const compressor: Compressor = {
  compress: (bytes, dictionary) => deflateRawSync(bytes, { level: 1, ...(dictionary && { dictionary }) }),
  decompress: (bytes, bounds, dictionary) =>
    inflateRawSync(bytes, { ...bounds, ...(dictionary && { dictionary }) }),
};

export const deflate: Layer = compressionLayer('deflate', compressor);
export const deflateDict: Layer = deflateWith(dictionaryV1);

export function deflateWith(dictionary: Dictionary): Layer {
  return dictionaryLayer('deflate-dict', compressor, dictionary);
}
