import type { StreamResponse } from '@a2a-js/sdk';
import type { Client, TransportFactory } from '@a2a-js/sdk/client';
import { MeshError, toErrorMessage as textOf } from '@gaia-mesh/core/contracts/errors.ts';
import { type Packet, shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { MESH_EXTENSION } from '@gaia-mesh/protocols/a2a/message.ts';
import type { StackSettings } from '../../contract/stack.ts';
import { createPooledFetch } from '../../http/undici-fetch.ts';
import type { A2aClient, SendOptions, TaskUpdate } from '../client.ts';
import { packetToMessage } from '../packets.ts';
import { loadSdk, type Sdk } from './sdk.ts';
import { toSdkMessage, toSdkUpdate, toTaskUpdate } from './shapes.ts';

/** Creates the SDK's client for one of A2A's transports, with a `fetch` that follows the settings. */
export type TransportOf = (sdk: Sdk, own: typeof fetch) => TransportFactory;

/** Connects a client of the SDK: reads the card and takes its interface of that transport. */
export async function connectSdk(
  purpose: string,
  transportOf: TransportOf,
  address: string,
  settings: StackSettings,
): Promise<A2aClient> {
  const sdk = await loadSdk(purpose);
  const pool = createPooledFetch(settings);
  const { ClientFactory, DefaultAgentCardResolver } = sdk.client;
  try {
    const factory = new ClientFactory({
      transports: [transportOf(sdk, pool.fetch)],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl: pool.fetch }),
    });
    return new SdkClient(sdk, await factory.createFromUrl(address), settings, () => pool.close());
  } catch (cause) {
    await pool.close();
    throw new MeshError('agent', `A2A: cannot connect to ${address}: ${shortenReason(textOf(cause))}`, {
      cause,
    });
  }
}

/** A client of the SDK, for any transport. */
export class SdkClient implements A2aClient {
  readonly close: () => Promise<void>;
  readonly #sdk: Sdk;
  readonly #client: Client;
  readonly #historyLength: number | undefined;
  readonly #serviceParameters: Record<string, string>;

  constructor(
    sdk: Sdk,
    client: Client,
    { history }: Pick<StackSettings, 'history'>,
    close: () => Promise<void>,
  ) {
    this.#sdk = sdk;
    this.#client = client;
    this.#historyLength = history ? undefined : 0;
    this.close = close;
    const { ServiceParameters, withA2AExtensions } = sdk.client;
    this.#serviceParameters = ServiceParameters.create(withA2AExtensions(MESH_EXTENSION));
  }

  async send(packet: Packet, options: SendOptions, signal: AbortSignal): Promise<TaskUpdate> {
    const result = await translateErrors(signal, () =>
      this.#client.sendMessage(this.#requestOf(packet, options), this.#options(signal)),
    );
    if (!('status' in result))
      throw new MeshError(
        'packet',
        `A2A: expected a task in answer, received the message ${result.messageId}`,
      );
    return toTaskUpdate(this.#sdk, result, packet.task_id);
  }

  stream(packet: Packet, signal: AbortSignal): AsyncIterable<TaskUpdate> {
    const events = this.#client.sendMessageStream(this.#requestOf(packet, {}), this.#options(signal));
    return this.#updatesOf(events, packet.task_id, signal);
  }

  async get(id: string, signal: AbortSignal): Promise<TaskUpdate> {
    const params = { tenant: '', id, historyLength: this.#historyLength };
    const task = await translateErrors(signal, () => this.#client.getTask(params, this.#options(signal)));
    return toTaskUpdate(this.#sdk, task, task.contextId);
  }

  subscribe(id: string, signal: AbortSignal): AsyncIterable<TaskUpdate> {
    return this.#updatesOf(
      this.#client.resubscribeTask({ tenant: '', id }, this.#options(signal)),
      '',
      signal,
    );
  }

  async *#updatesOf(events: AsyncIterable<StreamResponse>, known: string, signal: AbortSignal) {
    let contextId = known;
    const iterator = events[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done, value } = await translateErrors(signal, () => iterator.next());
        if (done === true) return;
        if (contextId === '' && value.payload?.$case === 'task') contextId = value.payload.value.contextId;
        yield toSdkUpdate(this.#sdk, value.payload, contextId);
      }
    } finally {
      await iterator.return?.();
    }
  }

  #requestOf(packet: Packet, { returnImmediately = false, webhook }: SendOptions) {
    const empty = { tenant: '', id: '', taskId: '', token: '', authentication: undefined };
    return {
      tenant: '',
      message: toSdkMessage(this.#sdk, packetToMessage(packet)),
      configuration: {
        acceptedOutputModes: [],
        taskPushNotificationConfig: webhook === undefined ? undefined : { ...empty, url: webhook },
        returnImmediately,
        historyLength: this.#historyLength,
      },
      metadata: undefined,
    };
  }

  #options(signal: AbortSignal) {
    return { signal, serviceParameters: this.#serviceParameters };
  }
}

/** @throws MeshError in place of the SDK's many errors */
async function translateErrors<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof MeshError) throw cause;
    const isLost = signal.aborted || cause instanceof TypeError;
    throw new MeshError(isLost ? 'agent' : 'packet', `A2A: ${shortenReason(textOf(cause))}`, { cause });
  }
}
