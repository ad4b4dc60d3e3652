import { isNativeAccelerationEnabled } from 'msgpackr';
import { type EnvelopeKey, type HeadFields, type MapScanner, notAPacket, utf8Text } from './head.ts';
import { Nesting } from './nesting.ts';
import { StrictTexts } from './strict-texts.ts';

/** The first of 64 tokens that are numbers, or records where both ends have a table of records. */
const RECORD = 0x40;
const FIXMAP = 0x80;
const FIXARRAY = 0x90;
const FIXSTR = 0xa0;
const NIL = 0xc0;
const FALSE = 0xc2;
const TRUE = 0xc3;
const FLOAT32 = 0xca;
const FLOAT64 = 0xcb;
const UINT8 = 0xcc;
const UINT16 = 0xcd;
const UINT32 = 0xce;
const UINT64 = 0xcf;
const INT8 = 0xd0;
const INT16 = 0xd1;
const INT32 = 0xd2;
const INT64 = 0xd3;
const STR8 = 0xd9;
const STR16 = 0xda;
const STR32 = 0xdb;
const ARRAY16 = 0xdc;
const ARRAY32 = 0xdd;
const MAP16 = 0xde;
const MAP32 = 0xdf;
const NEGATIVE_FIXINT = 0xe0;

/** Bytes behind the token of a number, from FLOAT32 to INT64. */
const NUMBER_BYTES = [4, 8, 1, 2, 4, 8, 1, 2, 4, 8];

/**
 * Walks over one MessagePack value without recursion. Lengths are checked against the bytes that are there, so no more
 * than one step a byte is taken.
 */
export class MessagePackScanner implements MapScanner {
  readonly #bytes: Buffer;
  /** Judges the texts where the walk is strict. */
  readonly #texts: StrictTexts | undefined;
  readonly #recordSizes: readonly number[] | undefined;
  #at = 0;

  /**
   * `strict` looks into texts as well: their UTF-8, and keys named `__proto__`. With `recordSizes`, the number of values of each
   * record in the table of both ends, a record may stand for a map.
   */
  constructor(blob: Uint8Array, mode: 'strict' | 'lenient', recordSizes?: readonly number[]) {
    this.#bytes = Buffer.isBuffer(blob) ? blob : Buffer.from(blob.buffer, blob.byteOffset, blob.length);
    this.#texts = mode === 'strict' ? new StrictTexts(this.#bytes) : undefined;
    this.#recordSizes = recordSizes;
  }

  /** @throws MeshError `packet` when no map comes next */
  mapSize(): number {
    const token = this.#byte();
    const size = this.#mapSize(token);
    if (size === undefined) throw notAPacket(`a map expected, not token ${hex(token)}`);
    return size;
  }

  /** @throws MeshError `packet` when no record of the table comes next */
  record(): number {
    const token = this.#byte();
    if (this.#recordSize(token) === undefined) throw notAPacket(`a record expected, not token ${hex(token)}`);
    return token - RECORD;
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
    if (token < FIXMAP) return this.#recordSize(token) === undefined ? token : undefined;
    if (token >= NEGATIVE_FIXINT) return token - 0x100;
    const start = this.#at;
    this.#advance(NUMBER_BYTES[token - FLOAT32] ?? 0);
    switch (token) {
      case FLOAT32:
        return this.#bytes.readFloatBE(start);
      case FLOAT64:
        return this.#bytes.readDoubleBE(start);
      case UINT8:
        return this.#bytes.readUInt8(start);
      case UINT16:
        return this.#bytes.readUInt16BE(start);
      case UINT32:
        return this.#bytes.readUInt32BE(start);
      case UINT64:
        return Number(this.#bytes.readBigUInt64BE(start));
      case INT8:
        return this.#bytes.readInt8(start);
      case INT16:
        return this.#bytes.readInt16BE(start);
      case INT32:
        return this.#bytes.readInt32BE(start);
      case INT64:
        return Number(this.#bytes.readBigInt64BE(start));
      default:
        return undefined;
    }
  }

  skipPayload(): void {
    const at = this.#at;
    if (this.#recordSize(this.#bytes[at] ?? 0) === undefined) this.mapSize();
    this.#at = at;
    this.skipValue();
  }

  skipValue(): void {
    const open = new Nesting();
    do {
      const isKey = open.isKeyNext();
      const token = this.#byte();
      const pairs = this.#mapSize(token);
      const items = pairs === undefined ? (this.#recordSize(token) ?? this.#arraySize(token)) : pairs * 2;
      if (items === undefined) {
        this.#skipScalar(token, isKey);
        open.step();
      } else {
        if (isKey) throw notAPacket(`a key that is no text (token ${hex(token)})`);
        if (items > this.#bytes.length - this.#at) throw notAPacket('it ends too early');
        open.enter(items, pairs !== undefined);
      }
    } while (open.isOpen);
  }

  /** What msgpackr may read: the blob, but for one fault of its. */
  safeBlob(): Uint8Array {
    return isNativeAccelerationEnabled ? this.#bytes : (this.#texts?.withDoubledMarks(STR32) ?? this.#bytes);
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

  /** A big-endian length of `width` bytes. */
  #length(width: 1 | 2 | 4): number {
    const at = this.#at;
    this.#advance(width);
    return this.#bytes.readUIntBE(at, width);
  }

  #mapSize(token: number): number | undefined {
    if (token >= FIXMAP && token < FIXARRAY) return token - FIXMAP;
    if (token < MAP16 || token > MAP32) return undefined;
    return this.#length(token === MAP16 ? 2 : 4);
  }

  /**
   * The number of values of the record that `token` begins; undefined when it begins none.
   *
   * @throws MeshError `packet` for one that is not in the table
   */
  #recordSize(token: number): number | undefined {
    if (this.#recordSizes === undefined || token < RECORD || token >= FIXMAP) return undefined;
    const size = this.#recordSizes[token - RECORD];
    if (size === undefined) throw notAPacket(`an unknown record (token ${hex(token)})`);
    return size;
  }

  #arraySize(token: number): number | undefined {
    if (token >= FIXARRAY && token < FIXSTR) return token - FIXARRAY;
    if (token !== ARRAY16 && token !== ARRAY32) return undefined;
    return this.#length(token === ARRAY16 ? 2 : 4);
  }

  /** Bytes of the text that `token` begins; undefined when it begins none. */
  #textLength(token: number): number | undefined {
    if (token >= FIXSTR && token < NIL) return token - FIXSTR;
    if (token === STR8) return this.#length(1);
    if (token === STR16) return this.#length(2);
    if (token === STR32) return this.#length(4);
    return undefined;
  }

  /** Goes behind a text and says where it starts. */
  #textStart(): number {
    const token = this.#byte();
    const length = this.#textLength(token);
    if (length === undefined) throw notAPacket(`a text expected, not token ${hex(token)}`);
    const start = this.#at;
    this.#advance(length);
    return start;
  }

  #skipScalar(token: number, isKey: boolean): void {
    const tokenAt = this.#at - 1;
    const length = this.#textLength(token);
    if (length !== undefined) {
      const start = this.#at;
      this.#advance(length);
      this.#texts?.check(tokenAt, start, this.#at, isKey);
      return;
    }
    if (isKey) throw notAPacket(`a key that is no text (token ${hex(token)})`);
    if (token >= FLOAT32 && token <= INT64) {
      this.#advance(NUMBER_BYTES[token - FLOAT32] ?? 0);
      return;
    }
    const isSmall = token < FIXMAP || token >= NEGATIVE_FIXINT;
    if (isSmall || token === NIL || token === FALSE || token === TRUE) return;
    throw notAPacket(`bytes or an extension (token ${hex(token)}), which JSON cannot hold`);
  }
}

function hex(token: number): string {
  return `0x${token.toString(16)}`;
}
