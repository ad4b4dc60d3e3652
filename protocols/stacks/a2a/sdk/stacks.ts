import type { Client, TransportFactory } from '@a2a-js/sdk/client';
import { MeshError, toErrorMessage as textOf } from '@gaia-mesh/core/contracts/errors.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { MESH_EXTENSION } from '@gaia-mesh/protocols/a2a/message.ts';
import type { Stack, StackSettings } from '../../contract/stack.ts';
import { createPooledFetch } from '../../http/undici-fetch.ts';
import { meterStack } from '../../meter/metered.ts';
import { type A2aClient, a2aTraits, createStackClient, meshCard, readTask } from '../exchange.ts';
import { listInterfaces } from '../interfaces.ts';
import { packetToMessage } from '../packets.ts';
import { createWork } from '../work.ts';
import { createSdkAgent, loadSdk, type Sdk, serveSdkHttp } from './server.ts';

/** A2A over HTTP with its own SDK at both ends, on express and undici. */
export const a2aJsonRpcSdk = createSdkHttp('a2a/jsonrpc', 'JSONRPC', ({ client }, fetchImpl) => {
  return new client.JsonRpcTransportFactory({ fetchImpl });
});
export const a2aRestSdk = createSdkHttp('a2a/rest', 'HTTP+JSON', ({ client }, fetchImpl) => {
  return new client.RestTransportFactory({ fetchImpl });
});

function createSdkHttp(
  name: string,
  protocolBinding: 'JSONRPC' | 'HTTP+JSON',
  transportOf: TransportOf,
): Stack {
  const purpose = `the stack ${name}`;
  return meterStack({
    name,
    protocol: 'a2a',
    transport: 'http1',
    implementation: 'sdk',
    traits: a2aTraits,
    async serve(inbox, settings) {
      const agent = await createSdkAgent(purpose, meshCard, createWork(inbox));
      const server = await serveSdkHttp(purpose, agent, settings);
      agent.setInterfaces(listInterfaces(server.url, [protocolBinding]));
      return {
        address: server.url,
        port: server.port,
        async close() {
          await agent.close();
          await server.close();
        },
      };
    },
    connect: async (address, settings) =>
      createStackClient(await connectSdk(purpose, transportOf, address, settings)),
  });
}

/** Creates the SDK's client for one of A2A's transports, with a `fetch` that follows the settings. */
type TransportOf = (sdk: Sdk, own: typeof fetch) => TransportFactory;

/** Connects a client of the SDK: reads the card and takes its interface of that transport. */
async function connectSdk(
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
        message: sdk.model.Message.fromJSON(packetToMessage(packet)),
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
      const { Message, Task } = sdk.model;
      return readTask(
        'status' in result ? { task: Task.toJSON(result) } : { message: Message.toJSON(result) },
        packet.task_id,
      );
    },
    close,
  };
}

/** Converts the SDK's errors. @throws MeshError */
async function translateErrors<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof MeshError) throw cause;
    const isLost = signal.aborted || cause instanceof TypeError;
    throw new MeshError(isLost ? 'agent' : 'packet', `A2A: ${shortenReason(textOf(cause))}`, { cause });
  }
}
