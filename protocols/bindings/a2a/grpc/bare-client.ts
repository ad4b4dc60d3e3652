import type { Packet } from '../../../../core/contracts/packet.ts';
import type { BindingSettings } from '../../contract/binding.ts';
import { checked } from '../bare/http-client.ts';
import { type A2aClient, newsOf, type SendOptions, type TaskNews } from '../client.ts';
import { sendResponseSchema, streamResponseSchema, taskResponseSchema } from '../model.ts';
import { messageOf } from '../packets.ts';
import { GrpcConnection, only } from './connection.ts';
import {
  getTaskRequest,
  sendRequest,
  sendResponse,
  streamResponse,
  subscribeRequest,
  task,
} from './messages.ts';

/**
 * The least client of A2A over gRPC, on one connection, which is open when this resolves.
 *
 * @throws MeshError `agent` where nobody answers
 */
export async function connectBareGrpc(address: string, settings: BindingSettings): Promise<A2aClient> {
  const { tls, deadlineMs } = settings;
  const url = `${tls === null ? 'http' : 'https'}://${new URL(address).host}`;
  const connection = new GrpcConnection(url, { ...settings, ca: tls?.cert });
  await connection.opened(AbortSignal.timeout(deadlineMs));
  return new BareGrpcClient(connection, settings);
}

class BareGrpcClient implements A2aClient {
  readonly #connection: GrpcConnection;
  readonly #settings: Pick<BindingSettings, 'history'>;

  constructor(connection: GrpcConnection, settings: Pick<BindingSettings, 'history'>) {
    this.#connection = connection;
    this.#settings = settings;
  }

  async send(packet: Packet, options: SendOptions, signal: AbortSignal): Promise<TaskNews> {
    const request = sendRequest.encode(this.#params(packet, options));
    const answer = await only(this.#connection.call('SendMessage', request, sendResponse, signal));
    return newsOf(checked(sendResponseSchema, answer, 'answer'), packet.task_id);
  }

  async *stream(packet: Packet, signal: AbortSignal) {
    const request = sendRequest.encode(this.#params(packet, {}));
    for await (const event of this.#connection.call('SendStreamingMessage', request, streamResponse, signal))
      yield newsOf(checked(streamResponseSchema, event, 'event'), packet.task_id);
  }

  async get(id: string, signal: AbortSignal): Promise<TaskNews> {
    const request = getTaskRequest.encode({ id, ...this.#history() });
    const answer = await only(this.#connection.call('GetTask', request, task, signal));
    const found = checked(taskResponseSchema, answer, 'task');
    return newsOf({ task: found }, found.contextId);
  }

  async *subscribe(id: string, signal: AbortSignal) {
    let contextId = '';
    for await (const event of this.#connection.call(
      'SubscribeToTask',
      subscribeRequest.encode({ id }),
      streamResponse,
      signal,
    )) {
      const news = checked(streamResponseSchema, event, 'event');
      if ('task' in news) contextId = news.task.contextId;
      yield newsOf(news, contextId);
    }
  }

  close(): void {
    this.#connection.close();
  }

  #history() {
    return this.#settings.history ? {} : { historyLength: 0 };
  }

  #params(packet: Packet, { returnImmediately, webhook }: SendOptions): object {
    const taskPushNotificationConfig = webhook === undefined ? undefined : { url: webhook };
    const configuration = { ...this.#history(), returnImmediately, taskPushNotificationConfig };
    return { message: messageOf(packet), configuration };
  }
}
