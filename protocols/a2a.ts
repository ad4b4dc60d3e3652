import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { FINAL_ANSWER, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { parseJson } from './scan/json.ts';
import { createHeaderSize } from './scan/scanner.ts';
import { createLook, createShape } from './scan/shape.ts';

/** The extension that every message and artifact of the mesh declares. */
export const MESH_EXTENSION = 'urn:mesh:packet:v1';

/**
 * The A2A task of every packet. In A2A the server that works on a task makes it, in the context that the
 * client names. A task of the mesh is such a context, and it holds one A2A task, the same for all, because
 * the mesh is the only server.
 */
const MESH_TASK_ID = '00000000-0000-4000-8000-000000000001';

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

// The data model of A2A (specification §4; `lf.a2a.v1` in its protobuf form), which `a2a-proto` and the stacks of
// A2A write as well. The payload is a data part; keys for which A2A has no place are in the metadata of an extension
// (§4.6).

/** Returns true for requests and broadcasts, with which A2A asks an agent for something. */
export function isRequest({ reply_to, tag }: Packet): boolean {
  return reply_to === undefined && tag === undefined;
}

/**
 * Builds a `SendMessageRequest`: parameters of the operation SendMessage (§3.1.1). `undefined` stands for an
 * absent key. `reply_to` is written where a reply is sent as a message of its own.
 */
export function buildSendMessageRequest(packet: Packet, reply_to?: string) {
  return {
    message: {
      messageId: packet.id,
      contextId: packet.task_id,
      role: 'ROLE_USER',
      ...buildContent(packet, reply_to),
    },
  };
}

/**
 * Builds a `StreamResponse` with a `TaskArtifactUpdateEvent` (§4.2.2): results belong in artifacts.
 * `reply_to` is written where the binding has no other place for it.
 */
export function buildStreamResponse(packet: Packet, reply_to?: string) {
  return {
    artifactUpdate: {
      taskId: MESH_TASK_ID,
      contextId: packet.task_id,
      artifact: { artifactId: packet.id, ...buildContent(packet, reply_to) },
      // A failed task leaves no artifact that would now be complete.
      lastChunk: packet.tag === FINAL_ANSWER ? true : undefined,
    },
  };
}

function buildContent({ type, from, to, tag, token_used, log_uri, ts, payload }: Packet, reply_to?: string) {
  return {
    parts: [{ data: payload, mediaType: 'application/json' }],
    metadata: { [MESH_EXTENSION]: { type, from, to, reply_to, tag, token_used, log_uri, ts } },
    extensions: [MESH_EXTENSION],
  };
}
