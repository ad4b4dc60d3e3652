import { isNativeAccelerationEnabled } from 'cbor-x';
import { type EnvelopeKey, type HeadFields, type MapScanner, notAPacket, utf8Text } from './head.ts';
import { Nesting } from './nesting.ts';
import { StrictTexts } from './strict-texts.ts';

// Major types, the upper 3 bits of a token.
const UNSIGNED = 0;
const NEGATIVE = 1;
const BYTES = 2;
const TEXT = 3;
const ARRAY = 4;
const MAP = 5;
const TAG = 6;

// What the lower 5 bits say where they are not the number itself.
const ONE_BYTE = 24;
const TWO_BYTES = 25;
const FOUR_BYTES = 26;
const EIGHT_BYTES = 27;

const FALSE = 0xf4;
const TRUE = 0xf5;
const NULL = 0xf6;
const FLOAT16 = 0xf9;
const FLOAT32 = 0xfa;
const FLOAT64 = 0xfb;

/** The token of a text whose length takes four bytes. */
const LONG_TEXT = (TEXT << 5) | FOUR_BYTES;

/**
 * Walks over one CBOR value (RFC 8949) without recursion, of which it takes what JSON can hold: whole and floating numbers,
 * texts, arrays, maps with texts for keys, `false`, `true`, `null`. Refused are tags, byte strings, other simple values
 * and indefinite lengths, which nobody needs who has the whole packet and which cbor-x reads only in part. Lengths are checked against the bytes that are there, so no more than one step a byte is taken.
 */
export class CborScanner implements MapScanner {
  readonly #bytes: Buffer;
  /** Judges the texts where the walk is strict. */
  readonly #texts: StrictTexts | undefined;
  #at = 0;

  /** `strict` looks into texts as well: their UTF-8, and keys named `__proto__`. */
  constructor(blob: Uint8Array, mode: 'strict' | 'lenient') {
    this.#bytes = Buffer.isBuffer(blob) ? blob : Buffer.from(blob.buffer, blob.byteOffset, blob.length);
    this.#texts = mode === 'strict' ? new StrictTexts(this.#bytes) : undefined;
  }

  mapSize(): number {
    const token = this.#byte();
    if (token >> 5 !== MAP) throw notAPacket(`a map expected, not token ${hex(token)}`);
    return this.#argument(token);
  }

  end(): void {
    const left = this.#bytes.length - this.#at;
    if (left > 0) throw notAPacket(`${left} bytes after its end`);
  }

  key(head: HeadFields): EnvelopeKey {
    const start = this.#textStart();
    return head.key(this.#bytes, start, this.#at);
  }

  text(): string {
    const start = this.#textStart();
    return utf8Text(this.#bytes, start, this.#at);
  }

  number(): number | undefined {
    const token = this.#byte();
    const major = token >> 5;
    if (major === UNSIGNED) return this.#argument(token);
    if (major === NEGATIVE) return -1 - this.#argument(token);
    const start = this.#at;
    this.#skipSimple(token);
    switch (token) {
      case FLOAT16:
        return float16(this.#bytes.readUInt16BE(start));
      case FLOAT32:
        return this.#bytes.readFloatBE(start);
      case FLOAT64:
        return this.#bytes.readDoubleBE(start);
      default:
        return undefined;
    }
  }

  skipPayload(): void {
    const at = this.#at;
    this.mapSize();
    this.#at = at;
    this.skipValue();
  }

  skipValue(): void {
    const open = new Nesting();
    do {
      const isKey = open.isKeyNext();
      const tokenAt = this.#at;
      const token = this.#byte();
      const major = token >> 5;
      if (isKey && major !== TEXT) throw notAPacket(`a key that is no text (token ${hex(token)})`);
      if (major === ARRAY || major === MAP) {
        const items = this.#argument(token) * (major === MAP ? 2 : 1);
        if (items > this.#bytes.length - this.#at) throw notAPacket('it ends too early');
        open.enter(items, major === MAP);
      } else {
        this.#skipScalar(tokenAt, token, isKey);
        open.step();
      }
    } while (open.isOpen);
  }

  /** What cbor-x may read: the blob, but for one fault of its. */
  safeBlob(): Uint8Array {
    return isNativeAccelerationEnabled
      ? this.#bytes
      : (this.#texts?.withDoubledMarks(LONG_TEXT) ?? this.#bytes);
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw notAPacket('it ends too early');
    this.#at += 1;
    return byte;
  }

  #advance(count: number): void {
    if (count > this.#bytes.length - this.#at) throw notAPacket('it ends too early');
    this.#at += count;
  }

  /** The number that belongs to `token`: a value, or a length. */
  #argument(token: number): number {
    const info = token & 0x1f;
    if (info < ONE_BYTE) return info;
    const at = this.#at;
    switch (info) {
      case ONE_BYTE:
        return this.#byte();
      case TWO_BYTES:
        this.#advance(2);
        return this.#bytes.readUInt16BE(at);
      case FOUR_BYTES:
        this.#advance(4);
        return this.#bytes.readUInt32BE(at);
      case EIGHT_BYTES:
        this.#advance(8);
        return this.#bytes.readUInt32BE(at) * 2 ** 32 + this.#bytes.readUInt32BE(at + 4);
      default:
        throw notAPacket(`an indefinite or reserved length (token ${hex(token)})`);
    }
  }

  /** Goes behind a text and says where it starts. */
  #textStart(): number {
    const token = this.#byte();
    if (token >> 5 !== TEXT) throw notAPacket(`a text expected, not token ${hex(token)}`);
    return this.#skipText(token);
  }

  #skipText(token: number): number {
    // The native part of cbor-x does not read them, the rest does; who has it must not matter.
    if ((token & 0x1f) === EIGHT_BYTES) throw notAPacket('a text with a length in eight bytes');
    const length = this.#argument(token);
    const start = this.#at;
    this.#advance(length);
    return start;
  }

  #skipScalar(tokenAt: number, token: number, isKey: boolean): void {
    switch (token >> 5) {
      case UNSIGNED:
      case NEGATIVE:
        this.#argument(token);
        break;
      case TEXT: {
        const start = this.#skipText(token);
        this.#texts?.check(tokenAt, start, this.#at, isKey);
        break;
      }
      default:
        this.#skipSimple(token);
    }
  }

  #skipSimple(token: number): void {
    switch (token) {
      case FALSE:
      case TRUE:
      case NULL:
        break;
      case FLOAT16:
        this.#advance(2);
        break;
      case FLOAT32:
        this.#advance(4);
        break;
      case FLOAT64:
        this.#advance(8);
        break;
      default:
        throw notAPacket(`${kindOf(token)} (token ${hex(token)}), which JSON cannot hold`);
    }
  }
}

function float16(bits: number): number {
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  const sign = bits >> 15 === 1 ? -1 : 1;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function kindOf(token: number): string {
  switch (token >> 5) {
    case BYTES:
      return 'bytes';
    case TAG:
      return 'a tag';
    case ARRAY:
    case MAP:
      return 'a list or map';
    default:
      return 'a simple value';
  }
}

function hex(token: number): string {
  return `0x${token.toString(16)}`;
}
