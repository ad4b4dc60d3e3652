import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { buildSendMessageRequest, buildStreamResponse, isRequest } from './a2a/message.ts';
import { parseJson } from './scan/json.ts';
import { createHeaderSize } from './scan/scanner.ts';
import { createLook, createShape } from './scan/shape.ts';

/**
 * Agent2Agent 1.0, JSON-RPC binding (specification §9): a call of `SendMessage`, or the `artifactUpdate`
 * event of a stream for a packet that answers a request or has a tag. `docs/protocols.md` lists the
 * deviations from A2A.
 */
export const a2a: ProtocolAdapter = {
  name: 'a2a',
  open: () => ({ encode, decode, headerSize: createHeaderSize(encode, '{}'.length), peek }),
};

/**
 * JSON-RPC id of an event that answers no request: it belongs to the stream of the task itself. Every other
 * event has the id of the request whose stream it is on, which is `reply_to`. The id is a number because any
 * text may be the id of a packet.
 */
const TASK_STREAM_ID = 0;

/** Builds the JSON-RPC request for a packet without `reply_to`. */
function buildRequest(packet: Packet) {
  return { jsonrpc: '2.0', id: packet.id, method: 'SendMessage', params: buildSendMessageRequest(packet) };
}

/** Builds the JSON-RPC response that is one event of a stream, for any packet. */
function buildStreamEvent(packet: Packet) {
  return { jsonrpc: '2.0', id: packet.reply_to ?? TASK_STREAM_ID, result: buildStreamResponse(packet) };
}

const request = createShape(buildRequest);
const event = createShape(buildStreamEvent);
const { peek, checkKeys } = createLook([buildRequest, buildStreamEvent]);

function encode(packet: Packet): Uint8Array {
  return Buffer.from(JSON.stringify(isRequest(packet) ? buildRequest(packet) : buildStreamEvent(packet)));
}

/** Reads both kinds of envelope, whichever kind the packet would be written as. */
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
