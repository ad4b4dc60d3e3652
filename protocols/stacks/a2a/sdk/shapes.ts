import type { Artifact, Message, Part, Task } from '@a2a-js/sdk';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { AnsweringTask } from '../exchange.ts';
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

/** Reads the task of an answer; `contextId` is that of the exchange. */
export function readSdkTask(
  { model }: Sdk,
  { id, status, artifacts }: Task,
  contextId: string,
): AnsweringTask {
  const texts = status?.message?.parts.flatMap(({ content }) =>
    content?.$case === 'text' ? content.value : [],
  );
  return {
    taskId: id,
    state: status && model.taskStateToJSON(status.state),
    packets: artifacts.map((artifact) => artifactToPacket(artifact, contextId)),
    text: texts?.join(' ') ?? '',
  };
}

function artifactToPacket({ artifactId: id, parts, metadata }: Artifact, contextId: string): Packet {
  const data = parts.map(({ content }): unknown => (content?.$case === 'data' ? content.value : undefined));
  return toPacket({ id, contextId, data, metadata });
}
