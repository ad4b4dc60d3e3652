import { isUtf8 } from 'node:buffer';
import { isNativeAccelerationEnabled } from 'msgpackr';
import { MAX_PAYLOAD_DEPTH } from '../core/limits.ts';
import { asciiText, type EnvelopeKey, type HeadFields, notAPacket } from './head.ts';

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

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const BYTE_ORDER_MARK = Buffer.from('\ufeff');
const PROTO = Buffer.from('__proto__');
/** Longer texts are decoded by a TextDecoder where msgpackr runs without its native part. */
const MAX_TEXT_WITHOUT_DECODER = 64;

/** Items that are still to come in each open map (keys count too) and array. One walk at a time uses them. */
const itemsLeft = new Int32Array(MAX_PAYLOAD_DEPTH);
const isMapOpen = new Uint8Array(MAX_PAYLOAD_DEPTH);

/**
 * Walks over one MessagePack value without recursion. Lengths are checked against the bytes that are there, so no more
 * than one step a byte is taken.
 */
export class MessagePackScanner {
  readonly #bytes: Buffer;
  readonly #isStrict: boolean;
  readonly #markedTexts: { readonly token: number; readonly start: number; readonly end: number }[] = [];
  #at = 0;

  /** `strict` looks into texts as well: their UTF-8, and keys named `__proto__`. */
  constructor(blob: Uint8Array, mode: 'strict' | 'lenient') {
    this.#bytes = Buffer.isBuffer(blob) ? blob : Buffer.from(blob.buffer, blob.byteOffset, blob.length);
    this.#isStrict = mode === 'strict';
  }

  /** @throws MeshError `packet` when no map comes next */
  mapSize(): number {
    const token = this.#byte();
    const size = this.#mapSize(token);
    if (size === undefined) throw notAPacket(`a map expected, not token ${hex(token)}`);
    return size;
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
    const end = this.#at;
    const plain = asciiText(this.#bytes, start, end);
    if (plain !== undefined) return plain;
    try {
      return utf8.decode(this.#bytes.subarray(start, end));
    } catch (error) {
      throw notAPacket('a text that is not UTF-8', error);
    }
  }

  number(): number | undefined {
    const token = this.#byte();
    if (token < FIXMAP) return token;
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

  skipMap(): void {
    const at = this.#at;
    this.mapSize();
    this.#at = at;
    this.skipValue();
  }

  skipValue(): void {
    let depth = 0;
    do {
      const isKey = depth > 0 && isMapOpen[depth - 1] === 1 && leftIn(depth) % 2 === 0;
      const token = this.#byte();
      const pairs = this.#mapSize(token);
      const items = pairs === undefined ? this.#arraySize(token) : pairs * 2;
      if (items === undefined) {
        this.#skipScalar(token, isKey);
      } else {
        if (isKey) throw notAPacket(`a key that is no text (token ${hex(token)})`);
        if (depth === MAX_PAYLOAD_DEPTH) throw notAPacket(`nested deeper than ${MAX_PAYLOAD_DEPTH}`);
        if (items > this.#bytes.length - this.#at) throw notAPacket('it ends too early');
      }
      if (items !== undefined && items > 0) {
        itemsLeft[depth] = items;
        isMapOpen[depth] = pairs === undefined ? 0 : 1;
        depth += 1;
      } else {
        depth = depthAfterItem(depth);
      }
    } while (depth > 0);
  }

  /** What msgpackr may read: the blob, but for one fault of its. */
  safeBlob(): Uint8Array {
    if (isNativeAccelerationEnabled || this.#markedTexts.length === 0) return this.#bytes;
    // Without its native part msgpackr drops a byte order mark that begins a long text. It drops one of two.
    const parts: Uint8Array[] = [];
    let copied = 0;
    for (const { token, start, end } of this.#markedTexts) {
      const header = Buffer.alloc(5, STR32);
      header.writeUInt32BE(end - start + BYTE_ORDER_MARK.length, 1);
      parts.push(this.#bytes.subarray(copied, token), header, BYTE_ORDER_MARK);
      copied = start;
    }
    return Buffer.concat([...parts, this.#bytes.subarray(copied)]);
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
      if (this.#isStrict) this.#checkText(tokenAt, start, isKey);
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

  #checkText(token: number, start: number, isKey: boolean): void {
    const end = this.#at;
    const text = this.#bytes.subarray(start, end);
    if (!isUtf8(text)) throw notAPacket('a text that is not UTF-8');
    if (isKey && text.equals(PROTO)) throw notAPacket('a key __proto__');
    const isMarked = text.length > MAX_TEXT_WITHOUT_DECODER && text.subarray(0, 3).equals(BYTE_ORDER_MARK);
    if (isMarked) this.#markedTexts.push({ token, start, end });
  }
}

function leftIn(depth: number): number {
  return itemsLeft[depth - 1] ?? 0;
}

/** One item less in what is open; where it was the last one, what was open is itself an item that has ended. */
function depthAfterItem(depth: number): number {
  for (let open = depth; open > 0; open--) {
    const left = leftIn(open) - 1;
    itemsLeft[open - 1] = left;
    if (left > 0) return open;
  }
  return 0;
}

function hex(token: number): string {
  return `0x${token.toString(16)}`;
}
