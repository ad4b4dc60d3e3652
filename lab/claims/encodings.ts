import { gzipSync } from 'node:zlib';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { encode as toToon } from '@toon-format/toon';
import { Packr } from 'msgpackr';
import * as z from 'zod';
import type { JsonObject } from '../../core/contracts/packet.ts';
import { tokensOf } from '../../core/tokens/o200k.ts';
import type { Encoding } from './claim.ts';

/** Plain MessagePack, as any library reads it. */
const packr = new Packr({ useRecords: false, variableMapSize: true });

/** A payload as bytes. */
export function encoded(payload: JsonObject, encoding: Encoding): Uint8Array {
  switch (encoding) {
    case 'json':
      return Buffer.from(JSON.stringify(payload));
    case 'json-pretty':
      return Buffer.from(JSON.stringify(payload, null, 2));
    case 'msgpack':
      return packr.pack(payload);
    case 'toon':
      return Buffer.from(toToon(payload));
    case 'protobuf-schema':
      return protobufRows(payload);
  }
}

export function measured(bytes: Uint8Array, measure: 'bytes' | 'gzipped bytes' | 'tokens'): number {
  switch (measure) {
    case 'bytes':
      return bytes.length;
    case 'gzipped bytes':
      return gzipSync(bytes).length;
    case 'tokens':
      return tokensOf(Buffer.from(bytes).toString('utf8'));
  }
}

/** The packets of type `rows` in the recording that ships. */
const rowsSchema = z.object({
  count: z.int(),
  rows: z.array(
    z.strictObject({
      ...{ date: z.string(), city: z.string(), item: z.int(), amount: z.number(), unit: z.string() },
      ...{ price: z.number(), checked: z.boolean() },
    }),
  ),
});

/**
 * The rows as a protobuf message with a schema of their own, as somebody would write one:
 *
 *     message Rows { repeated Row rows = 1; uint32 count = 2; }
 *     message Row { string date = 1; string city = 2; uint32 item = 3; double amount = 4; string unit = 5; double price = 6; bool checked = 7; }
 */
function protobufRows(payload: JsonObject): Uint8Array {
  const { rows, count } = rowsSchema.parse(payload);
  const writer = new BinaryWriter();
  const tag = (field: number, type: WireType) => (field << 3) | type;
  for (const { date, city, item, amount, unit, price, checked } of rows) {
    writer.uint32(tag(1, WireType.LengthDelimited)).fork();
    writer.uint32(tag(1, WireType.LengthDelimited)).string(date);
    writer.uint32(tag(2, WireType.LengthDelimited)).string(city);
    writer.uint32(tag(3, WireType.Varint)).uint32(item);
    writer.uint32(tag(4, WireType.Bit64)).double(amount);
    writer.uint32(tag(5, WireType.LengthDelimited)).string(unit);
    writer.uint32(tag(6, WireType.Bit64)).double(price);
    if (checked) writer.uint32(tag(7, WireType.Varint)).bool(true);
    writer.join();
  }
  return writer.uint32(tag(2, WireType.Varint)).uint32(count).finish();
}
