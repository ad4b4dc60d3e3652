import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { StreamResponse } from './model.ts';
import { listPartData, toPacket } from './packets.ts';

/** The state of a task in one answer or event, for every transport and implementation. */
export interface TaskUpdate {
  /** Id of the task; empty for a message, which is an answer without a task. */
  readonly taskId: string;
  /** State of the task; undefined if the event has none. */
  readonly state: string | undefined;
  readonly packets: readonly Packet[];
  /** Text of the agent's message about the task. */
  readonly text: string;
}

export interface SendOptions {
  /** True if the answer must not wait for the end of the task. */
  readonly returnImmediately?: boolean;
  /** URL to which the server sends events. */
  readonly webhook?: string;
}

/** A client of an agent, as far as an exchange of packets needs one. */
export interface A2aClient {
  send(packet: Packet, options: SendOptions, signal: AbortSignal): Promise<TaskUpdate>;
  stream(packet: Packet, signal: AbortSignal): AsyncIterable<TaskUpdate>;
  get(taskId: string, signal: AbortSignal): Promise<TaskUpdate>;
  subscribe(taskId: string, signal: AbortSignal): AsyncIterable<TaskUpdate>;
  close(): void | Promise<void>;
}

/** Reads an answer or an event in A2A's JSON; `contextId` is that of the exchange. */
export function toTaskUpdate(answer: StreamResponse, contextId: string): TaskUpdate {
  const packetsOf = (artifacts: readonly ArtifactJson[]) =>
    artifacts.map(({ artifactId: id, parts, metadata }) =>
      toPacket({ id, contextId, data: listPartData(parts), metadata }),
    );
  if ('task' in answer) {
    const { id, status, artifacts } = answer.task;
    return {
      taskId: id,
      state: status.state,
      packets: packetsOf(artifacts ?? []),
      text: joinTexts(status.message?.parts ?? []),
    };
  }
  if ('statusUpdate' in answer) {
    const { taskId, status } = answer.statusUpdate;
    return { taskId, state: status.state, packets: [], text: joinTexts(status.message?.parts ?? []) };
  }
  if ('artifactUpdate' in answer) {
    const { taskId, artifact } = answer.artifactUpdate;
    return { taskId, state: undefined, packets: packetsOf([artifact]), text: '' };
  }
  throw new MeshError(
    'packet',
    `A2A: expected a task in answer, received the message ${answer.message.messageId}`,
  );
}

interface ArtifactJson {
  readonly artifactId: string;
  readonly parts: readonly { readonly data?: unknown }[];
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

function joinTexts(parts: readonly { readonly text?: string | undefined }[]): string {
  return parts.flatMap(({ text }) => text ?? []).join(' ');
}
