import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import {
  isJsonObject,
  type JsonValue,
  type Packet,
  parsePacket,
  shortenReason,
} from '@gaia-mesh/core/contracts/packet.ts';
import { buildSendMessageRequest, buildStreamResponse, MESH_EXTENSION } from '@gaia-mesh/protocols/a2a.ts';
import type { Inbox, StackClient } from '../contract/stack.ts';
import type { AgentCard } from './card.ts';
import { type A2aArtifact, type A2aMessage, parseAnswer, streamResponseSchema } from './model.ts';
import { type AgentWork, createTextMessage } from './work.ts';

/**
 * This module puts packets into A2A's own messages, the same for every transport and implementation. A
 * request is the message of `SendMessage`; an answer is an artifact of the task that the server makes for it. A
 * task answers every message, so a sender always knows that it arrived.
 * Both look as the adapter `a2a` writes them, except that `reply_to` always is in the extension, because
 * request numbers belong to the transport.
 */

/** The card of an agent that receives packets. */
export const meshCard: AgentCard = {
  name: 'mesh',
  description: 'Takes packets and answers them',
  version: '1',
  capabilities: {
    streaming: true,
    pushNotifications: true,
    extensions: [{ uri: MESH_EXTENSION, description: 'The rest of a packet', required: false }],
  },
  defaultInputModes: ['application/json'],
  defaultOutputModes: ['application/json'],
  skills: [{ id: 'packet', name: 'packet', description: 'Takes one packet', tags: ['mesh'] }],
};

/**
 * Creates the work of an agent that hands packets to `inbox`: it reports a working task, an artifact for each
 * answer, and the task's end.
 */
export function createWork(inbox: Inbox): AgentWork {
  return async ({ message, taskId, contextId, signal }, emit) => {
    emit({ kind: 'status', state: 'TASK_STATE_WORKING' });
    try {
      const { messageId: id, parts, metadata } = message;
      for (const reply of await inbox(toPacket({ id, contextId, parts, metadata }), signal))
        emit({ kind: 'artifact', artifact: packetToArtifact(reply), lastChunk: true });
      emit({ kind: 'status', state: 'TASK_STATE_COMPLETED' });
    } catch (error) {
      emit({
        kind: 'status',
        state: 'TASK_STATE_FAILED',
        message: createTextMessage(shortenReason(toErrorMessage(error)), taskId, contextId),
      });
    }
  };
}

/**
 * Creates a client of a stack over any client of A2A.
 *
 * @param send sends a message, and resolves with the answer of `SendMessage` in A2A's JSON when its task is over
 */
export function createStackClient(
  send: (message: A2aMessage, signal: AbortSignal) => Promise<unknown>,
  close: () => Promise<void>,
): Omit<StackClient, 'wire'> {
  return {
    exchange: async (packet, signal) => readAnswer(await send(packetToMessage(packet), signal), packet),
    close,
  };
}

/** @throws MeshError `packet` for an answer that is no task, `agent` for a task that did not complete */
function readAnswer(value: unknown, { id: request, task_id: contextId }: Packet): readonly Packet[] {
  const answer = parseAnswer(streamResponseSchema, value, 'answer');
  if (!('task' in answer))
    throw new MeshError('packet', `A2A: expected a task in answer, received ${Object.keys(answer)}`);
  const { id, status, artifacts = [] } = answer.task;
  const packets = artifacts.map(({ artifactId, parts, metadata }) =>
    toPacket({ id: artifactId, contextId, parts, metadata }),
  );
  if (status.state === 'TASK_STATE_COMPLETED') return packets;
  const said = (status.message?.parts ?? []).flatMap(({ text }) => text ?? []).join(' ');
  throw new MeshError(
    'agent',
    `A2A: task ${id} of ${request} ended as ${status.state}: ${shortenReason(said)}`,
  );
}

/** Converts a packet to a message, in A2A's JSON. */
function packetToMessage(packet: Packet): A2aMessage {
  const { message } = buildSendMessageRequest(packet, packet.reply_to);
  return { ...message, role: 'ROLE_USER', metadata: omitAbsent(message.metadata) };
}

/** Converts an answer to an artifact. */
function packetToArtifact(packet: Packet): A2aArtifact {
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

/** The packet's part of a message or an artifact. */
interface Content extends Pick<A2aArtifact, 'parts' | 'metadata'> {
  /** `messageId` or `artifactId`. */
  readonly id: string;
  readonly contextId: string;
}

/**
 * @throws MeshError `packet` for a message or an artifact that is not the mesh's, and for one that contains
 * more than a packet
 */
function toPacket({ id, contextId, parts, metadata }: Content): Packet {
  const extension = metadata?.[MESH_EXTENSION];
  const payload = parts[0]?.data;
  if (!isJsonObject(extension) || Object.keys(metadata ?? {}).length !== 1)
    throw new MeshError('packet', `A2A: ${id}: expected metadata of ${MESH_EXTENSION} and nothing else`);
  if (parts.length !== 1 || !isJsonObject(payload))
    throw new MeshError('packet', `A2A: ${id}: expected one part with data, received ${parts.length} parts`);
  return parsePacket({ ...extension, id, task_id: contextId, payload });
}
