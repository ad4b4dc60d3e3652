import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { Codec, ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_DECODED_VALUES, MAX_PAYLOAD_DEPTH } from '@gaia-mesh/core/contracts/limits.ts';
import {
  copyHead,
  isJsonList,
  type JsonObject,
  type JsonValue,
  type Packet,
} from '@gaia-mesh/core/contracts/packet.ts';
import { buildSendMessageRequest, buildStreamResponse, isRequest } from './a2a.ts';
import { createHeaderSize, createPacketError } from './scan/scanner.ts';
import { createShape } from './scan/shape.ts';

/**
 * Writes the messages of `a2a` in protobuf (`lf.a2a.v1`, specification §10), as they stand in the body of
 * A2A's gRPC binding: a `SendMessageRequest`, or a `StreamResponse` for a packet that answers a request or
 * has a tag.
 *
 * gRPC would tell the two apart by method and direction. Here the only field that each of them has is enough:
 * `message` of a request is field 2, `artifact_update` of a response is field 4, and a blob holds nothing
 * else. A blob is therefore exactly the bytes of that message. gRPC would also show by the stream which
 * request is answered; here the metadata holds `reply_to`.
 */
export const a2aProto: ProtocolAdapter = {
  name: 'a2a-proto',
  open: () =>
    createProtoCodec((packet) =>
      isRequest(packet) ? buildSendMessageRequest(packet) : buildResponse(packet),
    ),
};

/** Returns a codec that writes every packet as the message `messageOf` builds. It reads both kinds of message. */
export function createProtoCodec(messageOf: (packet: Packet) => object): Codec {
  const encode = (packet: Packet) => whole.encode(messageOf(packet));
  return {
    encode,
    decode: (blob) => readPacket(whole.decode(blob)),
    headerSize: createHeaderSize(encode, EMPTY_PAYLOAD_BYTES),
    // A peek refuses everything that decoding refuses outside of the payload.
    peek: (blob) => copyHead(readPacket(withoutPayload.decode(blob))),
  };
}

/** Bytes of a `google.protobuf.Value` with an empty struct, which stands for `{}`. */
const EMPTY_PAYLOAD_BYTES = 2;

function buildResponse(packet: Packet) {
  return buildStreamResponse(packet, packet.reply_to);
}

/**
 * Writer and reader for values of one type behind a tag, over the library's. Forms describe the few messages
 * that the adapter needs without a code generator, and refuse unknown fields.
 */
interface Form<T> {
  readonly wireType: WireType;
  write(writer: BinaryWriter, value: T): void;
  /** @throws MeshError `packet`, or an error of the library's, for other bytes */
  read(reader: BinaryReader): T;
}

/** The number of a field and the form of its value, or of the values of a list. */
type Field = readonly [number: number, form: Form<unknown>, kind?: 'list'];

const protobufText: Form<string> = {
  wireType: WireType.LengthDelimited,
  write: (writer, text) => void writer.string(text),
  read: (reader) => reader.string(true),
};

const protobufBool: Form<boolean> = {
  wireType: WireType.Varint,
  write: (writer, value) => void writer.bool(value),
  read: (reader) => reader.bool(),
};

/** Creates an enumeration by the names of its values, as ProtoJSON writes it. */
function createEnumForm(numbers: { readonly [name: string]: number }): Form<string> {
  const names = new Map(Object.entries(numbers).map(([name, number]) => [number, name]));
  return {
    wireType: WireType.Varint,
    write: (writer, name) => void writer.int32(numbers[name] ?? 0),
    read(reader) {
      const number = reader.int32();
      const name = names.get(number);
      if (name === undefined)
        throw createPacketError(`${number} where ${[...names.values()].join(' or ')} belongs`);
      return name;
    },
  };
}

interface MessageForm extends Form<object> {
  encode(value: object): Uint8Array;
  /** @throws MeshError `packet` for bytes that are no such message */
  decode(blob: Uint8Array): object;
}

/**
 * Creates a message with those fields, in the order in which they are written (that of their numbers, as
 * libraries do it). A field that is `undefined` is absent; a decoded value has the fields that were in the
 * bytes. Fields may come in any order. The reader refuses unknown fields, and repeated ones that are not
 * lists (protobuf would keep the last).
 */
function createMessageForm(fields: { readonly [name: string]: Field }): MessageForm {
  const written = Object.entries(fields).map(([name, [number, form, kind]]) => ({
    name,
    tag: encodeTag(number, form.wireType),
    form,
    isList: kind === 'list',
  }));
  const byTag = new Map(written.map((field) => [field.tag, field]));

  function writeFields(writer: BinaryWriter, value: object): void {
    for (const { name, tag, form, isList } of written) {
      const content: unknown = Reflect.get(value, name);
      if (content === undefined) continue;
      for (const item of isList && Array.isArray(content) ? content : [content]) {
        form.write(writer.uint32(tag), item);
      }
    }
  }

  function readFields(reader: BinaryReader, end: number): object {
    const value: Record<string, unknown> = {};
    while (reader.pos < end) {
      const tag = reader.uint32();
      const field = byTag.get(tag);
      if (field === undefined)
        throw createPacketError(`a field with tag ${tag}, where ${Object.keys(fields)} belong`);
      const { name, form, isList } = field;
      const before = value[name];
      if (!isList && before !== undefined) throw createPacketError(`the field ${name} comes twice`);
      const content = form.read(reader);
      if (!isList) value[name] = content;
      else if (Array.isArray(before)) before.push(content);
      else value[name] = [content];
    }
    expectEnd(reader, end);
    return value;
  }

  return {
    wireType: WireType.LengthDelimited,
    write(writer, value) {
      writer.fork();
      writeFields(writer, value);
      writer.join();
    },
    read: (reader) => readFields(reader, readEnd(reader)),
    encode(value) {
      const writer = new BinaryWriter();
      writeFields(writer, value);
      return writer.finish();
    },
    decode(blob) {
      try {
        return readFields(new BinaryReader(blob), blob.length);
      } catch (error) {
        if (error instanceof MeshError) throw error;
        throw createPacketError(toErrorMessage(error), error);
      }
    },
  };
}

function encodeTag(number: number, wireType: WireType): number {
  return ((number << 3) | wireType) >>> 0;
}

/** Reads a length and returns the position where the value of this length ends. */
function readEnd(reader: BinaryReader): number {
  const length = reader.uint32();
  return reader.pos + length;
}

/** @throws MeshError `packet` if the value does not end where its length says */
function expectEnd(reader: BinaryReader, end: number): void {
  if (reader.pos !== end)
    throw createPacketError(`expected the end at byte ${end}, reached byte ${reader.pos}`);
}

/** @throws MeshError `packet` */
function expectTag(reader: BinaryReader, tag: number): void {
  const received = reader.uint32();
  if (received !== tag) throw createPacketError(`expected tag ${tag}, received ${received}`);
}

/**
 * JSON as protobuf's well-known types write it (`google/protobuf/struct.proto`): numbers are doubles, and
 * each value and each pair of key and value is a message of its own.
 *
 * Reading is stricter than protobuf asks: a value is exactly one value, a pair has its key first, and no key
 * comes twice.
 */
const protobufValue: Form<JsonValue> = {
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
const protobufStruct: Form<{ readonly [key: string]: JsonValue | undefined }> = {
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

/** Describes the parts of `a2a.proto` v1.0.1 that the mesh writes, under their JSON names; `data` reads the payload. */
function createBlobForm(data: Form<JsonValue>): MessageForm {
  const part = createMessageForm({ data: [4, data], mediaType: [7, protobufText] });
  const role = createEnumForm({ ROLE_USER: 1, ROLE_AGENT: 2 });
  const artifact = createMessageForm({
    artifactId: [1, protobufText],
    parts: [4, part, 'list'],
    metadata: [5, protobufStruct],
    extensions: [6, protobufText, 'list'],
  });
  const message = createMessageForm({
    messageId: [1, protobufText],
    contextId: [2, protobufText],
    role: [4, role],
    parts: [5, part, 'list'],
    metadata: [6, protobufStruct],
    extensions: [7, protobufText, 'list'],
  });
  const artifactUpdate = createMessageForm({
    taskId: [1, protobufText],
    contextId: [2, protobufText],
    artifact: [3, artifact],
    lastChunk: [5, protobufBool],
  });
  return createMessageForm({ message: [2, message], artifactUpdate: [4, artifactUpdate] });
}

const whole = createBlobForm(protobufValue);
const withoutPayload = createBlobForm({
  ...protobufValue,
  read(reader) {
    reader.skip(WireType.LengthDelimited);
    return {};
  },
});

const request = createShape(buildSendMessageRequest);
const response = createShape(buildResponse);

function readPacket(value: object): Packet {
  return ('artifactUpdate' in value ? response : request).read(value);
}
