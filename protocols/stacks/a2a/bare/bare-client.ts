import type { Packet } from '../../../../core/contracts/packet.ts';
import type { StackSettings } from '../../contract/stack.ts';
import { traceOf } from '../../contract/trace-of.ts';
import { type A2aClient, newsOf, type SendOptions } from '../client.ts';
import { checked, sendResponseSchema, streamResponseSchema, taskResponseSchema } from '../model.ts';
import { messageOf } from '../packets.ts';
import type { AgentWire } from './agent-wire.ts';

/** The least client of A2A, over any of its transports. */
export class BareClient implements A2aClient {
  readonly #wire: AgentWire;
  readonly #settings: Pick<StackSettings, 'history' | 'runId'>;

  constructor(wire: AgentWire, settings: Pick<StackSettings, 'history' | 'runId'>) {
    this.#wire = wire;
    this.#settings = settings;
  }

  async send(packet: Packet, options: SendOptions, signal: AbortSignal) {
    const params = this.#sendParams(packet, options);
    const answer = await this.#wire.call({ method: 'SendMessage', params }, signal);
    return newsOf(checked(sendResponseSchema, answer, 'answer'), packet.task_id);
  }

  async *stream(packet: Packet, signal: AbortSignal) {
    const params = this.#sendParams(packet, {});
    for await (const event of this.#wire.events({ method: 'SendStreamingMessage', params }, signal))
      yield newsOf(checked(streamResponseSchema, event, 'event'), packet.task_id);
  }

  async get(id: string, signal: AbortSignal) {
    const params = { id, ...this.#historyParams() };
    const answer = await this.#wire.call({ method: 'GetTask', params }, signal);
    const task = checked(taskResponseSchema, answer, 'task');
    return newsOf({ task }, task.contextId);
  }

  async *subscribe(id: string, signal: AbortSignal) {
    let contextId = '';
    for await (const came of this.#wire.events({ method: 'SubscribeToTask', params: { id } }, signal)) {
      const event = checked(streamResponseSchema, came, 'event');
      if ('task' in event) contextId = event.task.contextId;
      yield newsOf(event, contextId);
    }
  }

  close(): void {
    this.#wire.close();
  }

  #sendParams(packet: Packet, { returnImmediately, webhook }: SendOptions): object {
    const configuration = {
      ...this.#historyParams(),
      ...(returnImmediately === true ? { returnImmediately } : {}),
      ...(webhook === undefined ? {} : { taskPushNotificationConfig: { url: webhook } }),
    };
    const metadata = traceOf(this.#settings, packet);
    return {
      message: messageOf(packet),
      ...(Object.keys(configuration).length === 0 ? {} : { configuration }),
      ...(metadata === undefined ? {} : { metadata }),
    };
  }

  #historyParams() {
    return this.#settings.history ? {} : { historyLength: 0 };
  }
}
