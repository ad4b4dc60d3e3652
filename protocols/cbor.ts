import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { Encoder } from 'cbor-x';
import { withLargeIntegers } from './large-integers.ts';
import { createCodec } from './scan/scanner.ts';
import { TokenScanner } from './scan/tokens.ts';

// Major types, the upper 3 bits of a token.
const UNSIGNED = 0;
const NEGATIVE = 1;
const TEXT = 3;
const ARRAY = 4;
const MAP = 5;
const TAG = 6;

// Values of a token's lower 5 bits that give the size of the number behind it; smaller values are the number
// itself.
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

const options = {
  // Records are a private extension that no other implementation reads.
  useRecords: false,
  variableMapSize: true,
  // The library reads this option, but its types do not know it.
  tagUint8Array: false,
};
const encoder = new Encoder(options);

/**
 * Standard CBOR (RFC 8949) of the packet as a map, keys in the sender's order: every other implementation can
 * read it. cbor-x does not read it here: whatever its options, it would obey tags (records, whose readers it
 * compiles from the sender's keys; shared and packed values), rename `__proto__`, turn numeric keys into
 * texts, take the last of two equal keys and replace invalid UTF-8.
 */
export const cbor: ProtocolAdapter = {
  name: 'cbor',
  open: () =>
    createCodec({
      encode: (packet) => encoder.encode(withLargeIntegers(packet)),
      scan: (blob) => new CborScanner(blob),
      emptyPayloadBytes: 1,
    }),
};

/**
 * Scans CBOR (RFC 8949). It refuses tags, byte strings, other simple values and indefinite lengths, which a
 * sender that has the whole packet does not need, and texts with a length in eight bytes, which no frame
 * could hold.
 */
class CborScanner extends TokenScanner {
  protected mapSize(token: number): number | undefined {
    return token >> 5 === MAP ? this.#argument(token) : undefined;
  }

  protected textLength(token: number): number | undefined {
    return token >> 5 === TEXT && (token & 0x1f) !== EIGHT_BYTES ? this.#argument(token) : undefined;
  }

  protected valueFrom(token: number, depth: number): unknown {
    switch (token >> 5) {
      case UNSIGNED:
        return this.#argument(token);
      case NEGATIVE:
        return -1 - this.#argument(token);
      case TEXT:
        return this.textOf(
          this.textLength(token) ?? this.refuse('a text with a length in eight bytes', token),
        );
      case ARRAY:
        return this.list(this.#argument(token), depth);
      case MAP:
        return this.map(this.#argument(token), depth);
      case TAG:
        return this.refuse('a tag, which JSON cannot hold', token);
      default:
        return this.#simple(token);
    }
  }

  #simple(token: number): unknown {
    switch (token) {
      case FALSE:
        return false;
      case TRUE:
        return true;
      case NULL:
        return null;
      case FLOAT16:
        return decodeFloat16(this.bytes.readUInt16BE(this.over(2)));
      case FLOAT32:
        return this.bytes.readFloatBE(this.over(4));
      case FLOAT64:
        return this.bytes.readDoubleBE(this.over(8));
      default:
        return this.refuse('bytes or a simple value, which JSON cannot hold', token);
    }
  }

  /** Returns the number that belongs to `token`: a value, or a length. */
  #argument(token: number): number {
    const info = token & 0x1f;
    if (info < ONE_BYTE) return info;
    switch (info) {
      case ONE_BYTE:
        return this.byte();
      case TWO_BYTES:
        return this.bytes.readUInt16BE(this.over(2));
      case FOUR_BYTES:
        return this.bytes.readUInt32BE(this.over(4));
      case EIGHT_BYTES: {
        const start = this.over(8);
        return this.bytes.readUInt32BE(start) * 2 ** 32 + this.bytes.readUInt32BE(start + 4);
      }
      default:
        return this.refuse('an indefinite or reserved length', token);
    }
  }
}

function decodeFloat16(bits: number): number {
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  const sign = bits >> 15 === 1 ? -1 : 1;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
