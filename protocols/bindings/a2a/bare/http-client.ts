import * as z from 'zod';
import { MeshError } from '../../../../core/contracts/errors.ts';
import { issuesOf, type Packet, shortReason } from '../../../../core/contracts/packet.ts';
import type { BindingSettings } from '../../contract/binding.ts';
import { traceOf } from '../../contract/trace-of.ts';
import { eventsOf } from '../../http/event-stream.ts';
import { HttpClient, type HttpRequest } from '../../http/http-client.ts';
import { bodyOf } from '../../http/http-server.ts';
import { type A2aClient, newsOf, type SendOptions } from '../client.ts';
import { type AgentInterface, CARD_PATH } from '../interfaces.ts';
import { sendResponseSchema, streamResponseSchema, taskResponseSchema } from '../model.ts';
import { messageOf } from '../packets.ts';

/** How one of the two HTTP transports asks, and what is in its answers. */
export interface HttpDialect {
  readonly protocolBinding: AgentInterface['protocolBinding'];
  /** The request for an operation, below the interface's URL. */
  request(operation: Operation): Omit<HttpRequest, 'signal'>;
  /** @throws MeshError `packet` for an error of the protocol, or what is no answer */
  result(operation: Operation, answer: { readonly status: number; readonly text: string }): unknown;
}

export type Operation =
  | { readonly method: 'SendMessage' | 'SendStreamingMessage'; readonly params: object }
  | {
      readonly method: 'GetTask' | 'SubscribeToTask' | 'CancelTask';
      readonly params: { readonly id: string };
    };

const cardSchema = z.looseObject({
  supportedInterfaces: z.array(z.looseObject({ url: z.string(), protocolBinding: z.string() })),
});

/**
 * The least client of A2A over HTTP. Connecting reads the agent card and takes the interface of its transport.
 *
 * @throws MeshError `agent` where no card can be had, `packet` where it has no such interface
 */
export async function connectBareHttp(
  dialect: HttpDialect,
  address: string,
  settings: BindingSettings,
): Promise<A2aClient> {
  const http = new HttpClient(address, settings);
  try {
    const own = await interfaceIn(http, address, dialect.protocolBinding, settings);
    return new BareHttpClient(dialect, http, new URL(own).pathname, settings);
  } catch (error) {
    http.close();
    throw error;
  }
}

async function interfaceIn(
  http: HttpClient,
  address: string,
  binding: AgentInterface['protocolBinding'],
  { deadlineMs }: BindingSettings,
): Promise<string> {
  const signal = AbortSignal.timeout(deadlineMs);
  const { status, text } = await http.fetch({ method: 'GET', path: CARD_PATH, signal });
  if (status !== 200) throw new MeshError('agent', `${address}${CARD_PATH}: expected 200, came ${status}`);
  const card = checked(cardSchema, jsonOf(text), 'agent card');
  const own = card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === binding);
  if (own === undefined) throw new MeshError('packet', `the card at ${address} has no interface ${binding}`);
  return own.url;
}

class BareHttpClient implements A2aClient {
  readonly #dialect: HttpDialect;
  readonly #http: HttpClient;
  readonly #root: string;
  readonly #settings: Pick<BindingSettings, 'history' | 'runId'>;

  constructor(
    dialect: HttpDialect,
    http: HttpClient,
    root: string,
    settings: Pick<BindingSettings, 'history' | 'runId'>,
  ) {
    this.#dialect = dialect;
    this.#http = http;
    this.#root = root.replace(/\/$/, '');
    this.#settings = settings;
  }

  async send(packet: Packet, options: SendOptions, signal: AbortSignal) {
    const operation: Operation = { method: 'SendMessage', params: this.#sendParams(packet, options) };
    return newsOf(checked(sendResponseSchema, await this.#call(operation, signal), 'answer'), packet.task_id);
  }

  async *stream(packet: Packet, signal: AbortSignal) {
    const operation: Operation = { method: 'SendStreamingMessage', params: this.#sendParams(packet, {}) };
    for await (const event of this.#events(operation, signal)) yield newsOf(event, packet.task_id);
  }

  async get(taskId: string, signal: AbortSignal) {
    const params = { id: taskId, ...this.#historyParams() };
    const task = checked(taskResponseSchema, await this.#call({ method: 'GetTask', params }, signal), 'task');
    return newsOf({ task }, task.contextId);
  }

  async *subscribe(taskId: string, signal: AbortSignal) {
    let contextId = '';
    for await (const event of this.#events({ method: 'SubscribeToTask', params: { id: taskId } }, signal)) {
      if ('task' in event) contextId = event.task.contextId;
      yield newsOf(event, contextId);
    }
  }

  close(): void {
    this.#http.close();
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

  async #call(operation: Operation, signal: AbortSignal): Promise<unknown> {
    return this.#dialect.result(operation, await this.#http.fetch(this.#requestOf(operation, signal)));
  }

  async *#events(operation: Operation, signal: AbortSignal) {
    const response = await this.#http.open(this.#requestOf(operation, signal));
    const status = response.statusCode ?? 0;
    if (response.headers['content-type']?.startsWith('text/event-stream') !== true) {
      this.#dialect.result(operation, { status, text: (await bodyOf(response)).toString() });
      throw new MeshError('packet', `A2A: ${operation.method}: expected a stream of events`);
    }
    for await (const text of eventsOf(response))
      yield checked(streamResponseSchema, this.#dialect.result(operation, { status, text }), 'event');
  }

  #requestOf(operation: Operation, signal: AbortSignal): HttpRequest {
    const { method, path, body } = this.#dialect.request(operation);
    const headers = {
      'A2A-Version': '1.0',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    };
    return { method, path: `${this.#root}${path}` || '/', headers, body, signal };
  }
}

/** @throws MeshError `packet`, naming what is wrong with an answer */
export function checked<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (!result.success)
    throw new MeshError('packet', `A2A: not the ${what} that was expected: ${issuesOf(result.error)}`);
  return result.data;
}

const errorSchema = z.looseObject({ message: z.string() });

/** An error of the protocol, as it was written by the other side. */
export function failureOf(error: unknown): MeshError {
  const { message } = errorSchema.catch({ message: 'an error without a message' }).parse(error);
  return new MeshError('packet', `A2A: refused: ${shortReason(message)}`);
}

/** @throws MeshError `packet` for what is not JSON */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new MeshError('packet', `A2A: expected JSON, came ${JSON.stringify(text.slice(0, 80))}`, { cause });
  }
}
