import type { Codec, ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { buildSendMessageRequest, buildStreamResponse, isRequest } from './a2a/message.ts';
import { parseJson } from './scan/json.ts';
import { createHeaderSize } from './scan/scanner.ts';
import { createLook, createShape } from './scan/shape.ts';

/**
 * Agent2Agent 1.0, JSON-RPC binding (specification §9): a call of `SendMessage`, or the `artifactUpdate` event of a stream for
 * what answers a request or has a tag. What deviates from A2A is in `docs/protocols.md`.
 */
export const a2a: ProtocolAdapter = {
  name: 'a2a',
  open: () =>
    createA2aCodec((packet) => (isRequest(packet) ? buildRequest(packet) : buildStreamEvent(packet))),
};

/** The codec that writes every packet as `envelopeOf` has it. It reads both kinds. */
export function createA2aCodec(envelopeOf: (packet: Packet) => object): Codec {
  const encode = (packet: Packet) => Buffer.from(JSON.stringify(envelopeOf(packet)));
  return { encode, decode, headerSize: createHeaderSize(encode, '{}'.length), peek };
}

/**
 * The JSON-RPC id of an event is that of the request whose stream it is on: `reply_to`. What answers no request is on the
 * stream that the task itself is. A number, because every text may be the id of a packet.
 */
const TASK_STREAM_ID = 0;

/** The JSON-RPC request, for any packet without `reply_to`. */
export function buildRequest(packet: Packet) {
  return { jsonrpc: '2.0', id: packet.id, method: 'SendMessage', params: buildSendMessageRequest(packet) };
}

/** The JSON-RPC response that is one event of a stream, for any packet. */
export function buildStreamEvent(packet: Packet) {
  return { jsonrpc: '2.0', id: packet.reply_to ?? TASK_STREAM_ID, result: buildStreamResponse(packet) };
}

const request = createShape(buildRequest);
const event = createShape(buildStreamEvent);
const { peek, checkKeys } = createLook([buildRequest, buildStreamEvent]);

function decode(blob: Uint8Array): Packet {
  const value = parseJson(blob);
  const isEvent = typeof value === 'object' && value !== null && 'result' in value;
  const packet = isEvent
    ? event.read(value, (found) => {
        if (found.reply_to === TASK_STREAM_ID) delete found.reply_to;
      })
    : request.read(value);
  checkKeys(blob);
  return packet;
}
