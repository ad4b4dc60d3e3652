import { WireType } from '@bufbuild/protobuf/wire';
import type { Codec, ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { type JsonValue, keptHead, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { isRequest, sendMessageRequestOf, streamResponseOf } from './a2a/message.ts';
import {
  type Form,
  type MessageForm,
  many,
  message,
  one,
  protobufBool,
  protobufEnum,
  protobufText,
} from './scan/protobuf-message.ts';
import { protobufStruct, protobufValue } from './scan/protobuf-value.ts';
import { headerSizeOf } from './scan/scanner.ts';
import { shapeOf } from './scan/shape.ts';

/**
 * The messages of `a2a` in protobuf (`lf.a2a.v1`, specification §10), as the body of A2A's gRPC binding has them: a
 * `SendMessageRequest`, or a `StreamResponse` for what answers a request or has a tag.
 *
 * gRPC would tell the two apart by the method and the direction. Here the one field that each has does: `message` of a request has
 * number 2, `artifact_update` of a response number 4, and nothing else is in a blob. So it is the bytes of that message
 * and no more. gRPC would also say by the stream which request is answered; here `reply_to` is in the metadata.
 */
export const a2aProto: ProtocolAdapter = {
  name: 'a2a-proto',
  open: () =>
    a2aProtoCodec((packet) => (isRequest(packet) ? sendMessageRequestOf(packet) : responseOf(packet))),
};

/** The codec that writes every packet as `messageOf` has it. It reads both kinds. */
export function a2aProtoCodec(messageOf: (packet: Packet) => object): Codec {
  const encode = (packet: Packet) => whole.encode(messageOf(packet));
  return {
    encode,
    decode: (blob) => packetOf(whole.decode(blob)),
    headerSize: headerSizeOf(encode, EMPTY_PAYLOAD_BYTES),
    // All that decoding refuses outside of the payload is refused here too.
    peek: (blob) => keptHead(packetOf(withoutPayload.decode(blob))),
  };
}

/** `google.protobuf.Value` with an empty struct: what `{}` is here. */
const EMPTY_PAYLOAD_BYTES = 2;

export function responseOf(packet: Packet) {
  return streamResponseOf(packet, packet.reply_to);
}

/** The parts of `a2a.proto` v1.0.1 that the mesh writes, with JSON's names; `data` is how the payload is read. */
function blobWith(data: Form<JsonValue>): MessageForm {
  const part = message({ data: one(4, data), mediaType: one(7, protobufText) });
  const role = protobufEnum({ ROLE_USER: 1, ROLE_AGENT: 2 });
  const artifact = message({
    artifactId: one(1, protobufText),
    parts: many(4, part),
    metadata: one(5, protobufStruct),
    extensions: many(6, protobufText),
  });
  return message({
    message: one(
      2,
      message({
        messageId: one(1, protobufText),
        contextId: one(2, protobufText),
        role: one(4, role),
        parts: many(5, part),
        metadata: one(6, protobufStruct),
        extensions: many(7, protobufText),
      }),
    ),
    artifactUpdate: one(
      4,
      message({
        taskId: one(1, protobufText),
        contextId: one(2, protobufText),
        artifact: one(3, artifact),
        lastChunk: one(5, protobufBool),
      }),
    ),
  });
}

const whole = blobWith(protobufValue);
const withoutPayload = blobWith({
  ...protobufValue,
  read(reader) {
    reader.skip(WireType.LengthDelimited);
    return {};
  },
});

const request = shapeOf(sendMessageRequestOf);
const response = shapeOf(responseOf);

function packetOf(value: object): Packet {
  return ('artifactUpdate' in value ? response : request).read(value);
}
