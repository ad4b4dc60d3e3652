import { WireType } from '@bufbuild/protobuf/wire';
import type { Codec, ProtocolAdapter } from '../core/adapter.ts';
import { PREFIX_BYTES } from '../core/frame.ts';
import { type JsonValue, type Packet, type PacketHead, parsePacket } from '../core/packet.ts';
import {
  isRequest,
  packetOfRequest,
  packetOfResponse,
  sendMessageRequest,
  sendMessageRequestOf,
  streamResponse,
  streamResponseOf,
} from './a2a-message.ts';
import { checked } from './checked.ts';
import {
  type Form,
  type MessageForm,
  many,
  message,
  one,
  protobufBool,
  protobufEnum,
  protobufText,
} from './protobuf-message.ts';
import { protobufStruct, protobufValue } from './protobuf-value.ts';

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
  return {
    encode: (packet) => whole.encode(messageOf(packet)),
    decode: (blob) => packetOf(whole.decode(blob)),
    headerSize(packet) {
      const empty = messageOf({ ...packet, payload: {} });
      return PREFIX_BYTES + whole.encode(empty).length - EMPTY_PAYLOAD_BYTES;
    },
    peek,
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

function packetOf(value: object): Packet {
  return parsePacket(
    'artifactUpdate' in value
      ? packetOfResponse(checked(streamResponse, value))
      : packetOfRequest(checked(sendMessageRequest, value)),
  );
}

/** All that `decode` refuses outside the payload is refused here too. */
function peek(blob: Uint8Array): PacketHead {
  const { type, from, to, id, task_id, tag, token_used } = packetOf(withoutPayload.decode(blob));
  const head = { type, from, id, task_id, token_used };
  return { ...head, ...(to === undefined ? {} : { to }), ...(tag === undefined ? {} : { tag }) };
}
