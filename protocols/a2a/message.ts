import { FINAL_ANSWER, type Packet } from '@gaia-mesh/core/contracts/packet.ts';

/**
 * This module writes a packet in the data model of A2A 1.0 (specification §4; `lf.a2a.v1` in its protobuf
 * form), which the adapters `a2a` and `a2a-proto` write as JSON and as protobuf. The payload is a data part;
 * keys for which A2A has no place are in the metadata of an extension (§4.6), whose URI is {@link
 * MESH_EXTENSION}.
 */

/** The extension that every message and artifact of the mesh declares. */
export const MESH_EXTENSION = 'urn:mesh:packet:v1';

/**
 * The A2A task of every packet. In A2A the server that works on a task makes it, in the context that the
 * client names. A task of the mesh is such a context, and it holds one A2A task, the same for all, because
 * the mesh is the only server.
 */
const MESH_TASK_ID = '00000000-0000-4000-8000-000000000001';

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
