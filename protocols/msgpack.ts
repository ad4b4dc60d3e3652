import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { Packr } from 'msgpackr';
import { withLargeIntegers } from './large-integers.ts';
import { createCodec } from './scan/scanner.ts';
import { TokenScanner } from './scan/tokens.ts';

const packr = new Packr({
  // A bare Packr writes records, a private extension that no other implementation reads.
  useRecords: false,
  variableMapSize: true,
  // A payload may have a key toJSON; with a key constructor beside it msgpackr would call it.
  useToJSON: false,
});

/**
 * Standard MessagePack of the packet as a map, keys in the sender's order: every other implementation can
 * read it. msgpackr does not read it here: it would obey private extensions, rename `__proto__`, turn numeric
 * keys into texts, take the last of two equal keys and replace invalid UTF-8.
 */
export const msgpack: ProtocolAdapter = {
  name: 'msgpack',
  open: () =>
    createCodec({
      encode: (packet) => packr.pack(withLargeIntegers(packet)),
      scan: (blob) => new MessagePackScanner(blob),
      emptyPayloadBytes: 1,
    }),
};

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

/** Scans MessagePack. It refuses byte strings and extensions, including msgpackr's private ones. */
export class MessagePackScanner extends TokenScanner {
  protected mapSize(token: number): number | undefined {
    if (token >= FIXMAP && token < FIXARRAY) return token - FIXMAP;
    if (token === MAP16) return this.bytes.readUInt16BE(this.over(2));
    return token === MAP32 ? this.bytes.readUInt32BE(this.over(4)) : undefined;
  }

  protected textLength(token: number): number | undefined {
    if (token >= FIXSTR && token < NIL) return token - FIXSTR;
    if (token === STR8) return this.byte();
    if (token === STR16) return this.bytes.readUInt16BE(this.over(2));
    return token === STR32 ? this.bytes.readUInt32BE(this.over(4)) : undefined;
  }

  protected valueFrom(token: number, depth: number): unknown {
    if (token < FIXMAP) return token;
    if (token >= NEGATIVE_FIXINT) return token - 0x100;
    if (token < FIXARRAY) return this.map(token - FIXMAP, depth);
    if (token < FIXSTR) return this.list(token - FIXARRAY, depth);
    if (token < NIL) return this.textOf(token - FIXSTR);
    const { bytes } = this;
    switch (token) {
      case NIL:
        return null;
      case FALSE:
        return false;
      case TRUE:
        return true;
      case FLOAT32:
        return bytes.readFloatBE(this.over(4));
      case FLOAT64:
        return bytes.readDoubleBE(this.over(8));
      case UINT8:
        return this.byte();
      case UINT16:
        return bytes.readUInt16BE(this.over(2));
      case UINT32:
        return bytes.readUInt32BE(this.over(4));
      case UINT64:
        return this.#largeNumber(bytes.readUInt32BE(this.over(4)));
      case INT8:
        return bytes.readInt8(this.over(1));
      case INT16:
        return bytes.readInt16BE(this.over(2));
      case INT32:
        return bytes.readInt32BE(this.over(4));
      case INT64:
        return this.#largeNumber(bytes.readInt32BE(this.over(4)));
      case STR8:
      case STR16:
      case STR32:
        return this.textOf(this.textLength(token) ?? 0);
      case ARRAY16:
        return this.list(bytes.readUInt16BE(this.over(2)), depth);
      case ARRAY32:
        return this.list(bytes.readUInt32BE(this.over(4)), depth);
      case MAP16:
      case MAP32:
        return this.map(this.mapSize(token) ?? 0, depth);
      default:
        return this.refuse('bytes or an extension, which JSON cannot hold', token);
    }
  }

  /**
   * Reads the lower four of eight bytes, with the `upper` four already read. The result is exact for every
   * whole number that JavaScript holds; a bigint would take longer.
   */
  #largeNumber(upper: number): number {
    return upper * 2 ** 32 + this.bytes.readUInt32BE(this.over(4));
  }
}
