import * as z from 'zod';
import type { Codec, ProtocolAdapter } from '../core/adapter.ts';
import { PREFIX_BYTES } from '../core/frame.ts';
import { type Packet, parsePacket } from '../core/packet.ts';
import {
  isRequest,
  MESH_EXTENSION,
  packetOfRequest,
  packetOfResponse,
  sendMessageRequest,
  sendMessageRequestOf,
  streamResponse,
  streamResponseOf,
} from './a2a-message.ts';
import { checked } from './checked.ts';
import { parseJson } from './json-scanner.ts';
import { type JsonShape, peekFor } from './json-shape.ts';

/**
 * Agent2Agent 1.0, JSON-RPC binding (specification §9): a call of `SendMessage`, or the `artifactUpdate` event of a stream for
 * what answers a request or has a tag. What deviates from A2A is in `docs/protocols.md`.
 */
export const a2a: ProtocolAdapter = {
  name: 'a2a',
  open: () => a2aCodec((packet) => (isRequest(packet) ? requestOf(packet) : eventOf(packet))),
};

/** The codec that writes every packet as `envelopeOf` has it. It reads both kinds. */
export function a2aCodec(envelopeOf: (packet: Packet) => object): Codec {
  return {
    encode: (packet) => Buffer.from(JSON.stringify(envelopeOf(packet))),
    decode,
    headerSize(packet) {
      const envelope = envelopeOf({ ...packet, payload: {} });
      return PREFIX_BYTES + Buffer.byteLength(JSON.stringify(envelope)) - '{}'.length;
    },
    peek,
  };
}

/**
 * The JSON-RPC id of an event is that of the request whose stream it is on: `reply_to`. What answers no request is on the
 * stream that the task itself is. A number, because every text may be the id of a packet.
 */
const TASK_STREAM_ID = 0;

/** The JSON-RPC request, for any packet without `reply_to`. */
export function requestOf(packet: Packet) {
  return { jsonrpc: '2.0', id: packet.id, method: 'SendMessage', params: sendMessageRequestOf(packet) };
}

/** The JSON-RPC response that is one event of a stream, for any packet. */
export function eventOf(packet: Packet) {
  return { jsonrpc: '2.0', id: packet.reply_to ?? TASK_STREAM_ID, result: streamResponseOf(packet) };
}

const requestSchema = z
  .strictObject({
    jsonrpc: z.literal('2.0'),
    id: z.string(),
    method: z.literal('SendMessage'),
    params: sendMessageRequest,
  })
  .refine(({ id, params }) => id === params.message.messageId, 'id and params.message.messageId differ');

const eventSchema = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.literal(TASK_STREAM_ID)], `must be a text or ${TASK_STREAM_ID}`),
  result: streamResponse,
});

function decode(blob: Uint8Array): Packet {
  const value = parseJson(blob);
  const packet = parsePacket(
    isEvent(value) ? packetOfEvent(value) : packetOfRequest(checked(requestSchema, value).params),
  );
  // Only the bytes still show a key that came twice; and `reply_to` has its place in the id, not in the metadata.
  peek(blob);
  return packet;
}

function isEvent(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'result' in value;
}

function packetOfEvent(value: unknown) {
  const { id, result } = checked(eventSchema, value);
  return { ...packetOfResponse(result), ...(id === TASK_STREAM_ID ? {} : { reply_to: id }) };
}

const content: { readonly [key: string]: JsonShape } = {
  parts: [{ data: 'payload', mediaType: 'skip' }],
  metadata: {
    [MESH_EXTENSION]: {
      type: 'type',
      from: 'from',
      to: 'to',
      tag: 'tag',
      token_used: 'token_used',
      log_uri: 'log_uri',
      ts: 'ts',
    },
  },
  extensions: 'skip',
};

const peek = peekFor({
  jsonrpc: 'skip',
  id: 'skip',
  method: 'skip',
  params: { message: { messageId: 'id', contextId: 'task_id', role: 'skip', ...content } },
  result: {
    artifactUpdate: {
      taskId: 'skip',
      contextId: 'task_id',
      artifact: { artifactId: 'id', ...content },
      lastChunk: 'skip',
    },
  },
});
