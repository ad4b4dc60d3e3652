import type { Client, TransportFactory } from '@a2a-js/sdk/client';
import { MeshError, toErrorMessage as textOf } from '@gaia-mesh/core/contracts/errors.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { MESH_EXTENSION } from '@gaia-mesh/protocols/a2a/message.ts';
import type { StackSettings } from '../../contract/stack.ts';
import { createPooledFetch } from '../../http/undici-fetch.ts';
import type { A2aClient } from '../exchange.ts';
import { packetToMessage } from '../packets.ts';
import { loadSdk, type Sdk } from './sdk.ts';
import { readSdkTask, toSdkMessage } from './shapes.ts';

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
    return createSdkClient(sdk, await factory.createFromUrl(address), () => pool.close());
  } catch (cause) {
    await pool.close();
    throw new MeshError('agent', `A2A: cannot connect to ${address}: ${shortenReason(textOf(cause))}`, {
      cause,
    });
  }
}

/** Creates a client of packets over a client of the SDK, for any transport. */
export function createSdkClient(sdk: Sdk, client: Client, close: () => Promise<void>): A2aClient {
  const { ServiceParameters, withA2AExtensions } = sdk.client;
  const serviceParameters = ServiceParameters.create(withA2AExtensions(MESH_EXTENSION));
  return {
    async send(packet, signal) {
      const request = {
        tenant: '',
        message: toSdkMessage(sdk, packetToMessage(packet)),
        configuration: {
          acceptedOutputModes: [],
          taskPushNotificationConfig: undefined,
          returnImmediately: false,
          // Without it the answer would repeat the request.
          historyLength: 0,
        },
        metadata: undefined,
      };
      const result = await translateErrors(signal, () =>
        client.sendMessage(request, { signal, serviceParameters }),
      );
      if ('status' in result) return readSdkTask(sdk, result, packet.task_id);
      throw new MeshError(
        'packet',
        `A2A: expected a task in answer, received the message ${result.messageId}`,
      );
    },
    close,
  };
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
