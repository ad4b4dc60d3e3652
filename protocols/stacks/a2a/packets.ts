import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { isJsonObject, type JsonValue, type Packet, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import {
  buildSendMessageRequest,
  buildStreamResponse,
  MESH_EXTENSION,
} from '@gaia-mesh/protocols/a2a/message.ts';

/**
 * This module puts packets into A2A's own messages, the same for every transport and implementation. A
 * request is the message of `SendMessage`; an answer is an artifact of the task that the server makes for it.
 * Both look as the adapter `a2a` writes them, except that `reply_to` always is in the extension, because
 * request numbers belong to the transport.
 */

/** Converts a packet to a message, in A2A's JSON. */
export function packetToMessage(packet: Packet) {
  const { message } = buildSendMessageRequest(packet, packet.reply_to);
  return { ...message, role: 'ROLE_USER' as const, metadata: omitAbsent(message.metadata) };
}

/** Converts an answer to an artifact. */
export function packetToArtifact(packet: Packet) {
  const { artifact } = buildStreamResponse(packet, packet.reply_to).artifactUpdate;
  return { ...artifact, metadata: omitAbsent(artifact.metadata) };
}

/** Removes keys that the packet does not have: JSON leaves them out by itself, protobuf does not. */
function omitAbsent(
  metadata: Readonly<Record<string, Readonly<Record<string, string | number | undefined>>>>,
) {
  const own: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(metadata[MESH_EXTENSION] ?? {}))
    if (value !== undefined) own[key] = value;
  return { [MESH_EXTENSION]: own };
}

/** The packet's part of a message or an artifact, independent of the transport's names for the rest. */
interface Content {
  /** `messageId` or `artifactId`. */
  readonly id: string;
  readonly contextId: string;
  /** The data of each part; undefined for a part without data. */
  readonly data: readonly unknown[];
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
}

/**
 * @throws MeshError `packet` for a message or an artifact that is not the mesh's, and for one that contains
 * more than a packet
 */
export function toPacket({ id, contextId, data, metadata }: Content): Packet {
  const extension = metadata?.[MESH_EXTENSION];
  const [payload] = data;
  if (typeof extension !== 'object' || extension === null || Object.keys(metadata ?? {}).length !== 1)
    throw new MeshError('packet', `A2A: ${id}: expected metadata of ${MESH_EXTENSION} and nothing else`);
  if (data.length !== 1 || payload === undefined)
    throw new MeshError('packet', `A2A: ${id}: expected one part with data, received ${data.length} parts`);
  return parsePacket({ ...extension, id, task_id: contextId, payload });
}

/** Returns the data of parts in A2A's JSON. */
export function listPartData(parts: readonly { readonly data?: unknown }[]): readonly unknown[] {
  return parts.map(({ data }) => (isJsonObject(data) ? data : undefined));
}
