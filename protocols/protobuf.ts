// The package's root would load its reflection and well-known types, five times as much code, at the start of
// every agent.
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { parseJson } from './scan/json.ts';
import { createCodec, createPacketError, type EnvelopeKey, Scanner } from './scan/scanner.ts';

const VARINT = 0;

/** The fields of `mesh.proto` in the order of their numbers, which begin at 1. */
const FIELDS: readonly EnvelopeKey[] = [
  'type',
  'from',
  'to',
  'task_id',
  'tag',
  'payload',
  'reply_to',
  'token_used',
  'log_uri',
  'id',
  'ts',
];
const COUNTS: readonly EnvelopeKey[] = ['token_used', 'ts'];

const tags = FIELDS.map((key, i) => {
  const wireType = COUNTS.includes(key) ? WireType.Varint : WireType.LengthDelimited;
  return { key, tag: ((i + 1) << 3) | wireType };
});
const keysByTag = new Map(tags.map(({ key, tag }) => [tag, key]));

/** Protocol Buffers: message `mesh.v1.Packet` of `mesh.proto`, fields in the order of their numbers, the payload as JSON. */
export const protobuf: ProtocolAdapter = {
  name: 'protobuf',
  open: () =>
    createCodec({ encode, scan: (blob) => new ProtobufScanner(blob, keysByTag), emptyPayloadBytes: 2 }),
};

function encode(packet: Packet): Uint8Array {
  const writer = new BinaryWriter();
  for (const { key, tag } of tags) {
    const value = packet[key];
    if (typeof value === 'string') writer.uint32(tag).string(value);
    else if (typeof value === 'number') writer.uint32(tag).uint64(value);
    else if (value !== undefined) writer.uint32(tag).bytes(Buffer.from(JSON.stringify(value)));
  }
  return writer.finish();
}

/**
 * Scans the fields of one protobuf message of texts and numbers, in any order. It is stricter than the
 * format, which lets a reader skip unknown fields, take the last of two and read numbers with needless bytes.
 */
class ProtobufScanner extends Scanner {
  readonly #keys: ReadonlyMap<number, EnvelopeKey>;
  #key: EnvelopeKey | undefined;
  #wireType = VARINT;

  /** @param keys by tag, none above 127 */
  constructor(blob: Uint8Array, keys: ReadonlyMap<number, EnvelopeKey>) {
    super(blob);
    this.#keys = keys;
  }

  next(): EnvelopeKey | undefined {
    if (this.at === this.bytes.length) return undefined;
    const tag = this.byte();
    const key = this.#keys.get(tag);
    if (key === undefined) throw createPacketError(`a field that no packet has (tag 0x${tag.toString(16)})`);
    this.#wireType = tag & 7;
    this.#key = key;
    return this.keyNamed(key);
  }

  text(): string {
    const start = this.over(this.#varint());
    return this.cachedTextAt(start, this.at);
  }

  value(): unknown {
    if (this.#wireType === VARINT) return this.#varint();
    const start = this.over(this.#varint());
    if (this.#key === 'payload') return parseJson(this.bytes.subarray(start, this.at));
    return this.textAt(start, this.at);
  }

  skipPayload(): boolean {
    this.over(this.#varint());
    return true;
  }

  #varint(): number {
    let value = 0;
    for (let scale = 1; scale <= Number.MAX_SAFE_INTEGER; scale *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte >= 0x80) continue;
      if (byte === 0 && scale > 1) throw createPacketError('a number with needless bytes');
      if (value > Number.MAX_SAFE_INTEGER) break;
      return value;
    }
    throw createPacketError('a number too large to be exact');
  }
}
