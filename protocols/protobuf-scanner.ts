import { isUtf8 } from 'node:buffer';
import { type EnvelopeKey, type FieldScanner, type HeadFields, notAPacket, utf8Text } from './head.ts';

const VARINT = 0;

/**
 * Walks over the fields of one protobuf message of texts and numbers. Stricter than the format, which lets a reader skip unknown
 * fields, take the last of two and read numbers with needless bytes: what two readers could read differently is refused.
 */
export class ProtobufScanner implements FieldScanner {
  readonly #bytes: Buffer;
  readonly #keys: ReadonlyMap<number, EnvelopeKey>;
  readonly #isStrict: boolean;
  #at = 0;
  #wireType = VARINT;

  /** `keys` by tag, none above 127; `strict` looks into texts that are stepped over as well. */
  constructor(blob: Uint8Array, keys: ReadonlyMap<number, EnvelopeKey>, mode: 'strict' | 'lenient') {
    this.#bytes = Buffer.isBuffer(blob) ? blob : Buffer.from(blob.buffer, blob.byteOffset, blob.length);
    this.#keys = keys;
    this.#isStrict = mode === 'strict';
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** @throws MeshError `packet` for a field that no packet has, has in another type, or has already */
  key(head: HeadFields): EnvelopeKey {
    const tag = this.#bytes[this.#at] ?? 0;
    const key = this.#keys.get(tag);
    if (key === undefined) throw notAPacket(`a field that no packet has (tag 0x${tag.toString(16)})`);
    this.#at += 1;
    this.#wireType = tag & 7;
    return head.named(key);
  }

  text(): string {
    const start = this.#skipBytes();
    return utf8Text(this.#bytes, start, this.#at);
  }

  number(): number {
    return this.#varint();
  }

  skipPayload(): void {
    this.#skipBytes();
  }

  skipValue(): void {
    if (this.#wireType === VARINT) {
      this.#varint();
      return;
    }
    const start = this.#skipBytes();
    if (this.#isStrict && !isUtf8(this.#bytes.subarray(start, this.#at))) {
      throw notAPacket('a text that is not UTF-8');
    }
  }

  /** Goes behind a text or bytes and says where they start. */
  #skipBytes(): number {
    const length = this.#varint();
    const start = this.#at;
    if (length > this.#bytes.length - start) throw notAPacket('it ends too early');
    this.#at += length;
    return start;
  }

  #varint(): number {
    let value = 0;
    for (let scale = 1; scale <= Number.MAX_SAFE_INTEGER; scale *= 128) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw notAPacket('it ends too early');
      this.#at += 1;
      value += (byte & 0x7f) * scale;
      if (byte >= 0x80) continue;
      if (byte === 0 && scale > 1) throw notAPacket('a number with needless bytes');
      if (value > Number.MAX_SAFE_INTEGER) break;
      return value;
    }
    throw notAPacket('a number beyond counting');
  }
}
