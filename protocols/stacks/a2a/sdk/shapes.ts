import type { Artifact, Message, Part, StreamResponse, Task } from '@a2a-js/sdk';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { TaskUpdate } from '../client.ts';
import type { A2aArtifact, A2aMessage } from '../model.ts';
import { toPacket } from '../packets.ts';
import type { Sdk } from './sdk.ts';

/**
 * This module converts between A2A's JSON and the SDK's messages, which have protobuf's form: every field is
 * there, one-ofs have a `$case`.
 */

type JsonPart = A2aMessage['parts'][number];

export function toSdkMessage({ model }: Sdk, message: A2aMessage): Message {
  const { messageId, contextId = '', taskId = '', role, parts, metadata, extensions = [] } = message;
  return {
    messageId,
    contextId,
    taskId,
    metadata,
    extensions,
    referenceTaskIds: [],
    role: model.roleFromJSON(role),
    parts: parts.map(toSdkPart),
  };
}

export function toSdkArtifact({ artifactId, parts, metadata, extensions }: A2aArtifact): Artifact {
  const own = Array.isArray(extensions) ? extensions.map(String) : [];
  return { artifactId, name: '', description: '', parts: parts.map(toSdkPart), metadata, extensions: own };
}

function toSdkPart({ text, raw, url, data, filename = '', mediaType = '' }: JsonPart): Part {
  const rest = { filename, mediaType, metadata: undefined };
  if (text !== undefined) return { content: { $case: 'text', value: text }, ...rest };
  if (url !== undefined) return { content: { $case: 'url', value: url }, ...rest };
  if (raw !== undefined) return { content: { $case: 'raw', value: Buffer.from(raw, 'base64') }, ...rest };
  return { content: { $case: 'data', value: data }, ...rest };
}

/** Converts a received message to A2A's JSON. */
export function toJsonMessage({ model }: Sdk, message: Message): A2aMessage {
  const { messageId, contextId, taskId, role, parts, metadata, extensions } = message;
  return {
    messageId,
    contextId,
    taskId,
    metadata,
    extensions,
    role: role === model.Role.ROLE_AGENT ? 'ROLE_AGENT' : 'ROLE_USER',
    parts: parts.map(toJsonPart),
  };
}

function toJsonPart({ content, filename, mediaType }: Part): JsonPart {
  const rest = {
    filename: filename === '' ? undefined : filename,
    mediaType: mediaType === '' ? undefined : mediaType,
  };
  if (content === undefined) return rest;
  const value = content.$case === 'raw' ? content.value.toString('base64') : content.value;
  return { [content.$case]: value, ...rest };
}

/** Converts an answer or an event; `contextId` is that of the exchange. */
export function toSdkUpdate(sdk: Sdk, payload: StreamResponse['payload'], contextId: string): TaskUpdate {
  switch (payload?.$case) {
    case 'task':
      return toTaskUpdate(sdk, payload.value, contextId);
    case 'statusUpdate': {
      const { taskId, status } = payload.value;
      return { taskId, ...readTaskState(sdk, status), packets: [] };
    }
    case 'artifactUpdate': {
      const { taskId, artifact } = payload.value;
      const packets = artifact === undefined ? [] : [artifactToPacket(artifact, contextId)];
      return { taskId, state: undefined, text: '', packets };
    }
    default:
      throw new MeshError(
        'packet',
        `A2A: expected a task in answer, received ${payload?.$case ?? 'nothing'}`,
      );
  }
}

export function toTaskUpdate(sdk: Sdk, { id, status, artifacts }: Task, contextId: string): TaskUpdate {
  const packets = artifacts.map((artifact) => artifactToPacket(artifact, contextId));
  return { taskId: id, ...readTaskState(sdk, status), packets };
}

function readTaskState({ model }: Sdk, status: Task['status']): Pick<TaskUpdate, 'state' | 'text'> {
  if (status === undefined) return { state: undefined, text: '' };
  const texts = status.message?.parts.flatMap(({ content }) =>
    content?.$case === 'text' ? content.value : [],
  );
  return { state: model.taskStateToJSON(status.state), text: texts?.join(' ') ?? '' };
}

function artifactToPacket({ artifactId: id, parts, metadata }: Artifact, contextId: string): Packet {
  const data = parts.map(({ content }): unknown => (content?.$case === 'data' ? content.value : undefined));
  return toPacket({ id, contextId, data, metadata });
}
