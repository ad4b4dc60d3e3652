import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { createPacketError } from './scanner.ts';

/**
 * This module describes protobuf messages by hand, over the library's reader and writer. It replaces a code
 * generator for the few messages that an adapter needs, and its reader refuses unknown fields.
 */

/** Writer and reader for values of one type behind a tag. */
export interface Form<T> {
  readonly wireType: WireType;
  write(writer: BinaryWriter, value: T): void;
  /** @throws MeshError `packet`, or an error of the library's, for other bytes */
  read(reader: BinaryReader): T;
}

interface Field {
  readonly number: number;
  readonly form: Form<unknown>;
  readonly isList: boolean;
}

export function createSingleField<T>(number: number, form: Form<T>): Field {
  return { number, form, isList: false };
}

export function createListField<T>(number: number, form: Form<T>): Field {
  return { number, form, isList: true };
}

export const protobufText: Form<string> = {
  wireType: WireType.LengthDelimited,
  write: (writer, text) => void writer.string(text),
  read: (reader) => reader.string(true),
};

export const protobufBool: Form<boolean> = {
  wireType: WireType.Varint,
  write: (writer, value) => void writer.bool(value),
  read: (reader) => reader.bool(),
};

/** Creates an enumeration by the names of its values, as ProtoJSON writes it. */
export function createEnumForm(numbers: { readonly [name: string]: number }): Form<string> {
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

export interface MessageForm extends Form<object> {
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
export function createMessageForm(fields: { readonly [name: string]: Field }): MessageForm {
  const written = Object.entries(fields).map(([name, { number, form, isList }]) => ({
    name,
    tag: encodeTag(number, form.wireType),
    form,
    isList,
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

export function encodeTag(number: number, wireType: WireType): number {
  return ((number << 3) | wireType) >>> 0;
}

/** Reads a length and returns the position where the value of this length ends. */
export function readEnd(reader: BinaryReader): number {
  const length = reader.uint32();
  return reader.pos + length;
}

/** @throws MeshError `packet` if the value does not end where its length says */
export function expectEnd(reader: BinaryReader, end: number): void {
  if (reader.pos !== end)
    throw createPacketError(`expected the end at byte ${end}, reached byte ${reader.pos}`);
}

/** @throws MeshError `packet` */
export function expectTag(reader: BinaryReader, tag: number): void {
  const received = reader.uint32();
  if (received !== tag) throw createPacketError(`expected tag ${tag}, received ${received}`);
}
