import { WireType } from '@bufbuild/protobuf/wire';
import type { Codec, ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { copyHead, type JsonValue, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { buildSendMessageRequest, buildStreamResponse, isRequest } from './a2a/message.ts';
import {
  createEnumForm,
  createListField,
  createMessageForm,
  createSingleField,
  type Form,
  type MessageForm,
  protobufBool,
  protobufText,
} from './scan/protobuf-message.ts';
import { protobufStruct, protobufValue } from './scan/protobuf-value.ts';
import { createHeaderSize } from './scan/scanner.ts';
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

/** Describes the parts of `a2a.proto` v1.0.1 that the mesh writes, under their JSON names; `data` reads the payload. */
function createBlobForm(data: Form<JsonValue>): MessageForm {
  const part = createMessageForm({
    data: createSingleField(4, data),
    mediaType: createSingleField(7, protobufText),
  });
  const role = createEnumForm({ ROLE_USER: 1, ROLE_AGENT: 2 });
  const artifact = createMessageForm({
    artifactId: createSingleField(1, protobufText),
    parts: createListField(4, part),
    metadata: createSingleField(5, protobufStruct),
    extensions: createListField(6, protobufText),
  });
  return createMessageForm({
    message: createSingleField(
      2,
      createMessageForm({
        messageId: createSingleField(1, protobufText),
        contextId: createSingleField(2, protobufText),
        role: createSingleField(4, role),
        parts: createListField(5, part),
        metadata: createSingleField(6, protobufStruct),
        extensions: createListField(7, protobufText),
      }),
    ),
    artifactUpdate: createSingleField(
      4,
      createMessageForm({
        taskId: createSingleField(1, protobufText),
        contextId: createSingleField(2, protobufText),
        artifact: createSingleField(3, artifact),
        lastChunk: createSingleField(5, protobufBool),
      }),
    ),
  });
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
