import { parseJson } from './json.ts';
import { createPacketError, type EnvelopeKey, Scanner } from './scanner.ts';
import { decodeCachedText, decodeUtf8 } from './texts.ts';

const VARINT = 0;

/**
 * Scans the fields of one protobuf message of texts and numbers, in any order. It is stricter than the
 * format, which lets a reader skip unknown fields, take the last of two and read numbers with needless bytes.
 */
export class ProtobufScanner extends Scanner {
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
    return decodeCachedText(this.bytes, start, this.at);
  }

  value(): unknown {
    if (this.#wireType === VARINT) return this.#varint();
    const start = this.over(this.#varint());
    if (this.#key === 'payload') return parseJson(this.bytes.subarray(start, this.at));
    return decodeUtf8(this.bytes, start, this.at);
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
