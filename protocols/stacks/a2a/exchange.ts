import { setTimeout as delay } from 'node:timers/promises';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { type Packet, shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import type { StackClient, StackSettings, StackTraits } from '../contract/stack.ts';
import type { A2aClient, TaskUpdate } from './client.ts';
import { TERMINAL_STATES } from './model.ts';
import { Webhook } from './webhook.ts';

/**
 * Traits of A2A: a task answers every message, so a sender always knows that it arrived; a reply is an
 * artifact of that task.
 */
export const a2aTraits: StackTraits = {
  replies: 'same exchange',
  oneWay: 'acknowledged',
  later: ['hold', 'stream', 'subscribe', 'poll', 'push'],
  hasTls: true,
  largestMessageBytes: null,
};

/** Creates a client of a stack over any client of A2A. */
export async function createStackClient(
  client: A2aClient,
  settings: StackSettings,
): Promise<Omit<StackClient, 'wire'>> {
  const webhook = settings.later === 'push' ? await Webhook.start(settings) : undefined;
  return {
    exchange: async (packet, signal) => {
      const both = AbortSignal.any([signal, AbortSignal.timeout(settings.deadlineMs)]);
      return exchangePacket(client, webhook, packet, settings, both);
    },
    async close() {
      await client.close();
      await webhook?.close();
    },
  };
}

/** Sends `packet` and resolves with the packets of its task, in the way of delivery that the settings name. */
async function exchangePacket(
  client: A2aClient,
  webhook: Webhook | undefined,
  packet: Packet,
  { later, pollMs }: Pick<StackSettings, 'later' | 'pollMs'>,
  signal: AbortSignal,
): Promise<readonly Packet[]> {
  const outcome = new Outcome(packet.id);
  switch (later) {
    case 'hold':
      outcome.add(await client.send(packet, {}, signal));
      break;
    case 'stream':
      for await (const update of client.stream(packet, signal)) outcome.add(update);
      break;
    case 'subscribe':
      outcome.add(await client.send(packet, { returnImmediately: true }, signal));
      if (!outcome.isOver) await subscribe(client, outcome, signal);
      break;
    case 'poll':
      outcome.add(await client.send(packet, { returnImmediately: true }, signal));
      while (!outcome.isOver) {
        await delay(pollMs, undefined, { signal });
        outcome.add(await client.get(outcome.taskId, signal));
      }
      break;
    case 'push': {
      if (webhook === undefined) throw new Error('there is no webhook');
      const called = webhook.open(packet.task_id, signal);
      try {
        await client.send(packet, { returnImmediately: true, webhook: called.url }, signal);
        for await (const update of called.events) {
          outcome.add(update);
          if (outcome.isOver) break;
        }
      } finally {
        called.close();
      }
    }
  }
  return outcome.packets();
}

/**
 * Subscribes to a task. It may have ended after the answer that said it was running; the subscription is
 * refused then (§3.1.6).
 */
async function subscribe(client: A2aClient, outcome: Outcome, signal: AbortSignal): Promise<void> {
  try {
    for await (const update of client.subscribe(outcome.taskId, signal)) outcome.add(update);
  } catch (error) {
    if (signal.aborted) throw error;
    outcome.add(await client.get(outcome.taskId, signal));
    if (!outcome.isOver) throw error;
  }
}

/** The known state of one exchange's task. */
class Outcome {
  readonly #request: string;
  /** Packets by artifact, since an artifact may come twice, in an event and in the task. */
  readonly #packets = new Map<string, Packet>();
  #latest: TaskUpdate | undefined;

  constructor(request: string) {
    this.#request = request;
  }

  get taskId(): string {
    return this.#latest?.taskId ?? '';
  }

  get isOver(): boolean {
    return TERMINAL_STATES.has(this.#latest?.state ?? '');
  }

  add(update: TaskUpdate): void {
    for (const packet of update.packets) this.#packets.set(packet.id, packet);
    this.#latest = { ...update, state: update.state ?? this.#latest?.state };
  }

  /** @throws MeshError `agent` for a failed task, `packet` for one that has not ended */
  packets(): readonly Packet[] {
    const { state, text, taskId } = this.#latest ?? { state: undefined, text: '', taskId: '' };
    if (state === 'TASK_STATE_COMPLETED') return [...this.#packets.values()];
    const what = `A2A: task ${taskId} of ${this.#request}`;
    if (TERMINAL_STATES.has(state ?? ''))
      throw new MeshError('agent', `${what} ended as ${state}: ${shortenReason(text)}`);
    throw new MeshError('packet', `${what}: expected a final state, received ${state ?? 'nothing'}`);
  }
}
