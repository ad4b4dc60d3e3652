import { type BinaryReader, type BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { MAX_DECODED_VALUES, MAX_PAYLOAD_DEPTH } from '@gaia-mesh/core/contracts/limits.ts';
import { isJsonList, type JsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { encodeTag, expectEnd, expectTag, type Form, readEnd } from './protobuf-message.ts';
import { createPacketError } from './scanner.ts';

/**
 * JSON as protobuf's well-known types write it (`google/protobuf/struct.proto`): numbers are doubles, and
 * each value and each pair of key and value is a message of its own.
 *
 * Reading is stricter than protobuf asks: a value is exactly one value, a pair has its key first, and no key
 * comes twice.
 */
export const protobufValue: Form<JsonValue> = {
  wireType: WireType.LengthDelimited,
  write(writer, value) {
    writer.fork();
    writeValue(writer, value);
    writer.join();
  },
  read(reader) {
    valuesLeft = MAX_DECODED_VALUES;
    return readValue(reader, readEnd(reader), 1);
  },
};

/** An object as protobuf's `Struct`. A member that is `undefined` is not written, as in JSON. */
export const protobufStruct: Form<{ readonly [key: string]: JsonValue | undefined }> = {
  wireType: WireType.LengthDelimited,
  write(writer, object) {
    writer.fork();
    writeStruct(writer, object);
    writer.join();
  },
  read(reader) {
    valuesLeft = MAX_DECODED_VALUES;
    return readStruct(reader, readEnd(reader), 1);
  },
};

/** Values that the field being read may still have. Reading is synchronous, so one count suffices. */
let valuesLeft = MAX_DECODED_VALUES;

const NULL = encodeTag(1, WireType.Varint);
const NUMBER = encodeTag(2, WireType.Bit64);
const STRING = encodeTag(3, WireType.LengthDelimited);
const BOOL = encodeTag(4, WireType.Varint);
const STRUCT = encodeTag(5, WireType.LengthDelimited);
const LIST = encodeTag(6, WireType.LengthDelimited);

const STRUCT_PAIR = encodeTag(1, WireType.LengthDelimited);
const PAIR_KEY = encodeTag(1, WireType.LengthDelimited);
const PAIR_VALUE = encodeTag(2, WireType.LengthDelimited);
const LIST_ITEM = encodeTag(1, WireType.LengthDelimited);

function writeValue(writer: BinaryWriter, value: JsonValue): void {
  switch (typeof value) {
    case 'string':
      writer.uint32(STRING).string(value);
      break;
    case 'number':
      writer.uint32(NUMBER).double(value);
      break;
    case 'boolean':
      writer.uint32(BOOL).bool(value);
      break;
    default:
      if (value === null) {
        writer.uint32(NULL).uint32(0);
      } else if (isJsonList(value)) {
        writer.uint32(LIST).fork();
        for (const item of value) {
          writer.uint32(LIST_ITEM).fork();
          writeValue(writer, item);
          writer.join();
        }
        writer.join();
      } else {
        writer.uint32(STRUCT).fork();
        writeStruct(writer, value);
        writer.join();
      }
  }
}

function writeStruct(writer: BinaryWriter, object: { readonly [key: string]: JsonValue | undefined }): void {
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (value === undefined) continue;
    writer.uint32(STRUCT_PAIR).fork().uint32(PAIR_KEY).string(key).uint32(PAIR_VALUE).fork();
    writeValue(writer, value);
    writer.join().join();
  }
}

function readValue(reader: BinaryReader, end: number, depth: number): JsonValue {
  const value = readOneOf(reader, depth);
  expectEnd(reader, end);
  return value;
}

function readOneOf(reader: BinaryReader, depth: number): JsonValue {
  valuesLeft -= 1;
  if (valuesLeft < 0) throw createPacketError(`more than ${MAX_DECODED_VALUES} values`);
  const tag = reader.uint32();
  switch (tag) {
    case NULL:
      if (reader.uint32() !== 0) throw createPacketError('a null that is another number than 0');
      return null;
    case NUMBER:
      return reader.double();
    case STRING:
      return reader.string(true);
    case BOOL:
      return reader.bool();
    case STRUCT:
      return readStruct(reader, readEnd(reader), depth);
    case LIST:
      return readList(reader, readEnd(reader), depth);
    default:
      throw createPacketError(`a value with tag ${tag}, which no kind of value has`);
  }
}

function readStruct(reader: BinaryReader, end: number, depth: number): JsonObject {
  checkDepth(depth);
  const object: Record<string, JsonValue> = {};
  while (reader.pos < end) {
    expectTag(reader, STRUCT_PAIR);
    const pairEnd = readEnd(reader);
    const key = readPairKey(reader);
    // An assignment to this key would set the object's prototype.
    if (key === '__proto__') throw createPacketError('a key __proto__');
    if (Object.hasOwn(object, key)) throw createPacketError(`the key ${key} comes twice`);
    object[key] = readValue(reader, readEnd(reader), depth + 1);
    expectEnd(reader, pairEnd);
  }
  expectEnd(reader, end);
  return object;
}

/**
 * Reads a pair up to its value. Writers may omit an empty key, as they may any field with its default value.
 */
function readPairKey(reader: BinaryReader): string {
  const tag = reader.uint32();
  if (tag === PAIR_VALUE) return '';
  if (tag !== PAIR_KEY) throw createPacketError(`a pair with tag ${tag}, which is neither key nor value`);
  const key = reader.string(true);
  expectTag(reader, PAIR_VALUE);
  return key;
}

function readList(reader: BinaryReader, end: number, depth: number): JsonValue[] {
  checkDepth(depth);
  const list: JsonValue[] = [];
  while (reader.pos < end) {
    expectTag(reader, LIST_ITEM);
    list.push(readValue(reader, readEnd(reader), depth + 1));
  }
  expectEnd(reader, end);
  return list;
}

/** Bounds the depth of a value, because reading is recursive and must not overflow the stack. */
function checkDepth(depth: number): void {
  if (depth > MAX_PAYLOAD_DEPTH) throw createPacketError(`nested deeper than ${MAX_PAYLOAD_DEPTH}`);
}
