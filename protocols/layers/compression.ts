import { messageOf } from '../../core/errors.ts';
import { MAX_FRAME_BYTES } from '../../core/limits.ts';
import type { Dictionary } from './dictionary.ts';
import { type Layer, type LayerCodec, type Opened, refusedBy } from './layer.ts';

/**
 * Compression of one packet at a time:
 *
 *     flag (1)  |  the bytes as they were              flag 0
 *     flag (1)  |  compressed                          flag 1
 *     flag (1)  |  hash of the dictionary (4)  |  compressed with it      flag 2
 *
 * A packet that would not become smaller is stored, so that it never grows by more than the flag. The hash is there because a
 * wrong dictionary gives wrong bytes rather than an error, with brotli always.
 */
const STORED = 0;
const COMPRESSED = 1;
const WITH_DICTIONARY = 2;
const FLAG_BYTES = 1;

/** Below it the few bytes that are saved are not worth the 10 µs. A dictionary begins to help far earlier. */
const MIN_BYTES = 1024;
const MIN_BYTES_WITH_DICTIONARY = 128;

/** What every decompression is held to: a few kB may ask for gigabytes, and bytes behind the end are not nothing. */
export interface Bounds {
  readonly maxOutputLength: number;
  readonly rejectGarbageAfterEnd: true;
}

export interface Compressor {
  compress(bytes: Uint8Array, dictionary?: Uint8Array): Uint8Array;
  /** @throws what `node:zlib` throws */
  decompress(bytes: Uint8Array, bounds: Bounds, dictionary?: Uint8Array): Buffer;
}

const bounds: Bounds = { maxOutputLength: MAX_FRAME_BYTES, rejectGarbageAfterEnd: true };

export function compressionLayer(name: string, compressor: Compressor): Layer {
  return layerOf(name, compressor, COMPRESSED, MIN_BYTES);
}

export function dictionaryLayer(name: string, compressor: Compressor, dictionary: Dictionary): Layer {
  return layerOf(name, compressor, WITH_DICTIONARY, MIN_BYTES_WITH_DICTIONARY, dictionary);
}

function layerOf(
  name: string,
  compressor: Compressor,
  flag: number,
  minBytes: number,
  dictionary?: Dictionary,
): Layer {
  const header = Buffer.concat([Buffer.of(flag), dictionary?.hash ?? Buffer.alloc(0)]);

  function seal(bytes: Uint8Array): Uint8Array {
    if (bytes.length >= minBytes) {
      const compressed = compressor.compress(bytes, dictionary?.bytes);
      if (header.length + compressed.length < FLAG_BYTES + bytes.length) {
        return Buffer.concat([header, compressed]);
      }
    }
    const stored = Buffer.allocUnsafe(FLAG_BYTES + bytes.length);
    stored[0] = STORED;
    stored.set(bytes, FLAG_BYTES);
    return stored;
  }

  function unseal(bytes: Uint8Array): Opened {
    if (bytes[0] === STORED) return { bytes: bytes.subarray(FLAG_BYTES) };
    if (bytes[0] !== flag) throw refusedBy(name, `unknown flag ${bytes[0] ?? '(no bytes)'}`);
    if (!header.equals(bytes.subarray(0, header.length))) {
      throw refusedBy(name, 'compressed with another dictionary than ours');
    }
    try {
      return { bytes: compressor.decompress(bytes.subarray(header.length), bounds, dictionary?.bytes) };
    } catch (error) {
      throw refusedBy(name, `cannot be decompressed: ${messageOf(error)}`, error);
    }
  }

  const codec: LayerCodec = { overheadBytes: FLAG_BYTES, seal, unseal };
  return { name, open: () => codec };
}
