import { createHash } from 'node:crypto';
import * as zlib from 'node:zlib';
import { readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES, UNPACK_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { createLayerError, type Layer, type LayerCodec } from './layer.ts';

/**
 * Text that most packets share: the envelopes as the text protocols write them, with recurring values, and
 * the keys of the default team's payloads. It holds no document and no answer, so that it serves all users
 * alike. The likeliest text stands last, where references to it are shortest. A changed letter makes another
 * dictionary: frames carry its hash, and an end that has another one refuses them.
 */
const fragments: readonly string[] = [
  '{"code":"engine","message":"","stack":""}task_failed',
  '"auth":{"scheme":"anp-rfc9421-origin-proof-v1","origin_proof":{"contentDigest":"sha-256=:',
  '","signatureInput":"sig1=(\\"@method\\" \\"@target-uri\\" \\"content-digest\\");created=;expires=;nonce=\\"',
  '\\";keyid=\\"did:wba:#key-1\\"","signature":"sig1=:"}},',
  '{"jsonrpc":"2.0","method":"direct.send","params":{"meta":{"profile":"anp.direct.base.v1",',
  '"security_profile":"transport-protected","sender_did":"did:wba:","target":{"kind":"agent","did":"did:wba:"},',
  '"operation_id":"","message_id":"","created_at":"","content_type":"application/json"},',
  '"body":{"conversation_id":"","annotations":{"type":"',
  '{"jsonrpc":"2.0","id":"","method":"tools/call","params":{"name":"mesh.packet","arguments":{"type":"',
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",',
  '"io.modelcontextprotocol/clientInfo":{"name":"","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}',
  '{"jsonrpc":"2.0","id":"","result":{"artifactUpdate":{"taskId":"","contextId":"","artifact":{"artifactId":"',
  '{"jsonrpc":"2.0","id":"","method":"SendMessage","params":{"message":{"messageId":"","contextId":"","role":"ROLE_USER",',
  '"parts":[{"data":{},"mediaType":"application/json"}],"metadata":{"urn:mesh:packet:v1":{"type":"',
  '"extensions":["urn:mesh:packet:v1"]}}}',
  '"passages":[{"first":0,"last":0,"text":"',
  '"events":[{"chunk":0,"text":"","score":100,"heading":"',
  '"sentences":[{"chunk":0,"text":"","score":',
  '"triples":[{"subject":"","relation":"","object":"","sentence":0,"start":0,"scores":[100,0,0]},',
  '{"question":"","chunks":["","',
  '"reply_to":"","tag":"final_answer","payload":{"answer":"',
  '{"type":"doc_init","from":"hub","id":"hub-1","task_id":"","token_used":0,"ts":17,"payload":{"question":"',
  '{"type":"data_event","from":"3","id":"3-1","task_id":"t-1","tag":"final_answer","token_used":',
  '{"type":"events","from":"1","id":"1-1","task_id":"t-1","token_used":',
  '{"type":"triples","from":"2","id":"2-1","task_id":"t-1","token_used":',
  '{"type":"search_docs","from":"0","to":"1","id":"0-1","task_id":"t-1","token_used":',
  ',"log_uri":"workspaces/0/search.log","ts":17,"payload":{"question":"',
];

/** Text that both ends know, so that it need not be sent. */
export const dictionaryV1: Uint8Array = Buffer.from(fragments.join(''));

/**
 * Compression of one packet at a time:
 *
 *     flag (1)  |  the bytes as they were              flag 0
 *     flag (1)  |  compressed                          flag 1
 *     flag (1)  |  hash of the dictionary (4)  |  compressed with it      flag 2
 *
 * A packet is stored uncompressed if it would not become smaller, so that it never grows by more than the
 * flag, and if it would become so small that receivers would refuse its ratio. The hash is there because a
 * wrong dictionary gives wrong bytes rather than an error, with brotli always.
 */
const STORED = 0;
const COMPRESSED = 1;
const WITH_DICTIONARY = 2;
const FLAG_BYTES = 1;

/**
 * Minimum bytes to compress: below it the few saved bytes are not worth the 10 µs. A dictionary begins to
 * help far earlier.
 */
const MIN_BYTES = 1024;
const MIN_BYTES_WITH_DICTIONARY = 128;

/** Returns the maximum bytes to which `compressedBytes` may unpack. */
function limitUnpackedBytes(compressedBytes: number): number {
  return Math.min(
    MAX_FRAME_BYTES,
    Math.max(UNPACK_LIMITS.alwaysBytes, UNPACK_LIMITS.ratio * compressedBytes),
  );
}

/** The functions of `node:zlib` with the options that suit packets. They throw for bytes that they cannot decompress. */
const compressors = {
  /**
   * Raw DEFLATE (RFC 1951), which has no header and no checksum. Level 1: higher levels take longer for a few
   * bytes less.
   */
  deflate: {
    compress: (bytes: Uint8Array, dictionary: Uint8Array | undefined) =>
      zlib.deflateRawSync(bytes, { dictionary, level: 1 }),
    decompress: zlib.inflateRawSync,
  },
  /**
   * Zstandard (RFC 8878) at its default level, without a checksum: `crc32c` is for that. A frame may ask for
   * a window of up to 2^26 bytes, the size of the largest packet; the memory is allocated before it is used.
   */
  zstd: {
    compress: (bytes: Uint8Array, dictionary: Uint8Array | undefined) =>
      zlib.zstdCompressSync(bytes, { dictionary }),
    decompress: (bytes: Uint8Array, options: zlib.ZstdOptions) =>
      zlib.zstdDecompressSync(bytes, { ...options, params: { [zlib.constants.ZSTD_d_windowLogMax]: 26 } }),
  },
  /**
   * Brotli (RFC 7932), which knows common English and web texts without a dictionary. Quality 11, the
   * default, takes 30 to 60 times as long.
   */
  brotli: {
    compress: (bytes: Uint8Array, dictionary: Uint8Array | undefined) => {
      // Node takes a dictionary here, too; its types do not know.
      const options = { dictionary, params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } };
      return zlib.brotliCompressSync(bytes, options);
    },
    decompress: zlib.brotliDecompressSync,
  },
};

/** First bytes of the SHA-256 of a dictionary, by which frames name it. */
const HASH_BYTES = 4;

/** Creates the layer, without a dictionary or with one that both ends have. */
export function createCompressionLayer(format: keyof typeof compressors, dictionary?: Uint8Array): Layer {
  const { compress, decompress } = compressors[format];
  const name = dictionary === undefined ? format : `${format}-dict`;
  const flag = dictionary === undefined ? COMPRESSED : WITH_DICTIONARY;
  const minBytes = dictionary === undefined ? MIN_BYTES : MIN_BYTES_WITH_DICTIONARY;
  const hash =
    dictionary === undefined
      ? Buffer.alloc(0)
      : createHash('sha256').update(dictionary).digest().subarray(0, HASH_BYTES);
  const header = Buffer.concat([Buffer.of(flag), hash]);

  function seal(bytes: Uint8Array): Uint8Array {
    if (bytes.length >= minBytes) {
      const compressed = compress(bytes, dictionary);
      const isSmaller = header.length + compressed.length < FLAG_BYTES + bytes.length;
      if (isSmaller && bytes.length <= limitUnpackedBytes(compressed.length)) {
        return Buffer.concat([header, compressed]);
      }
    }
    const stored = Buffer.allocUnsafe(FLAG_BYTES + bytes.length);
    stored[0] = STORED;
    stored.set(bytes, FLAG_BYTES);
    return stored;
  }

  function unseal(bytes: Uint8Array) {
    if (bytes[0] === STORED) return { bytes: bytes.subarray(FLAG_BYTES) };
    if (bytes[0] !== flag) throw createLayerError(name, `unknown flag ${bytes[0] ?? '(no bytes)'}`);
    if (!header.equals(bytes.subarray(0, header.length))) {
      throw createLayerError(name, 'compressed with another dictionary than ours');
    }
    const compressed = bytes.subarray(header.length);
    // A few kB may ask for gigabytes, and bytes behind the end are an error.
    const maxBytes = limitUnpackedBytes(compressed.length);
    const bounds = { maxOutputLength: maxBytes, rejectGarbageAfterEnd: true, dictionary };
    try {
      return { bytes: decompress(compressed, bounds) };
    } catch (error) {
      if (readSystemCode(error) === 'ERR_BUFFER_TOO_LARGE')
        throw createLayerError(
          name,
          `${compressed.length} bytes unpack to something larger than ${maxBytes} bytes`,
          error,
        );
      throw createLayerError(name, `cannot be decompressed: ${toErrorMessage(error)}`, error);
    }
  }

  const codec: LayerCodec = { overheadBytes: FLAG_BYTES, seal, unseal };
  return { name, open: () => codec };
}
