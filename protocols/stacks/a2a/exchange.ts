import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { type Packet, shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { MESH_EXTENSION } from '@gaia-mesh/protocols/a2a/message.ts';
import type { StackClient, StackTraits } from '../contract/stack.ts';
import type { AgentCard } from './agent/agent.ts';
import { parseAnswer, sendResponseSchema } from './model.ts';
import { listPartData, toPacket } from './packets.ts';

/**
 * Traits of A2A: a task answers every message, so a sender always knows that it arrived; a reply is an
 * artifact of that task.
 */
export const a2aTraits: StackTraits = {
  oneWay: 'acknowledged',
  hasTls: true,
  largestMessageBytes: null,
};

/** The task that answers a packet, for every transport and implementation. */
interface AnsweringTask {
  readonly taskId: string;
  readonly state: string | undefined;
  readonly packets: readonly Packet[];
  /** Text of the agent's message about the task. */
  readonly text: string;
}

/** A client of an agent, as far as an exchange of packets needs one. */
export interface A2aClient {
  /** Resolves when the task is over. */
  send(packet: Packet, signal: AbortSignal): Promise<AnsweringTask>;
  close(): void | Promise<void>;
}

/** Creates a client of a stack over any client of A2A. */
export function createStackClient(client: A2aClient): Omit<StackClient, 'wire'> {
  return {
    exchange: async (packet, signal) => readPackets(await client.send(packet, signal), packet.id),
    async close() {
      await client.close();
    },
  };
}

/** @throws MeshError `agent` for a task that did not complete */
function readPackets({ taskId, state, packets, text }: AnsweringTask, request: string): readonly Packet[] {
  if (state === 'TASK_STATE_COMPLETED') return packets;
  const what = `A2A: task ${taskId} of ${request}`;
  throw new MeshError('agent', `${what} ended as ${state ?? 'nothing'}: ${shortenReason(text)}`);
}

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
 * Reads an answer in A2A's JSON; `contextId` is that of the exchange.
 *
 * @throws MeshError `packet` for an answer that is no task
 */
export function readTask(value: unknown, contextId: string): AnsweringTask {
  const answer = parseAnswer(sendResponseSchema, value, 'answer');
  if ('message' in answer)
    throw new MeshError(
      'packet',
      `A2A: expected a task in answer, received the message ${answer.message.messageId}`,
    );
  const { id: taskId, status, artifacts = [] } = answer.task;
  return {
    taskId,
    state: status.state,
    packets: artifacts.map(({ artifactId: id, parts, metadata }) =>
      toPacket({ id, contextId, data: listPartData(parts), metadata }),
    ),
    text: (status.message?.parts ?? []).flatMap(({ text }) => text ?? []).join(' '),
  };
}
