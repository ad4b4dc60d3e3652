import { Message, Task } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  ServiceParameters,
  type TransportFactory,
  withA2AExtensions,
} from '@a2a-js/sdk/client';
import { MeshError, toErrorMessage as textOf } from '@gaia-mesh/core/contracts/errors.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { MESH_EXTENSION } from '@gaia-mesh/protocols/a2a.ts';
import type { Stack, StackClient, StackSettings } from '../../contract/stack.ts';
import { createPooledFetch } from '../../http/undici-fetch.ts';
import { meterStack } from '../../meter/metered.ts';
import { listInterfaces } from '../card.ts';
import { createStackClient, createWork, meshCard } from '../packets.ts';
import { createSdkAgent, serveSdkHttp } from './server.ts';

/** A2A over HTTP with its own SDK at both ends, on express and undici. */
export const a2aJsonRpcSdk = createSdkHttp(
  'a2a/jsonrpc',
  'JSONRPC',
  (fetchImpl) => new JsonRpcTransportFactory({ fetchImpl }),
);
export const a2aRestSdk = createSdkHttp(
  'a2a/rest',
  'HTTP+JSON',
  (fetchImpl) => new RestTransportFactory({ fetchImpl }),
);

/** Creates the SDK's client for one of A2A's transports, with a `fetch` that follows the settings. */
type TransportOf = (own: typeof fetch) => TransportFactory;

function createSdkHttp(
  name: string,
  protocolBinding: 'JSONRPC' | 'HTTP+JSON',
  transportOf: TransportOf,
): Stack {
  return meterStack({
    name,
    protocol: 'a2a',
    transport: 'http1',
    implementation: 'sdk',
    traits: { oneWay: 'acknowledged', hasTls: true },
    async serve(inbox, settings) {
      const agent = createSdkAgent(meshCard, createWork(inbox));
      const server = await serveSdkHttp(agent, settings);
      agent.setInterfaces(listInterfaces(server.url, [protocolBinding]));
      return {
        address: server.url,
        port: server.port,
        async close() {
          agent.close();
          await server.close();
        },
      };
    },
    connect: (address, settings) => connectSdk(transportOf, address, settings),
  });
}

/** Connects a client of the SDK: reads the card and takes its interface of that transport. */
async function connectSdk(
  transportOf: TransportOf,
  address: string,
  settings: StackSettings,
): Promise<Omit<StackClient, 'wire'>> {
  const pool = createPooledFetch(settings);
  try {
    const factory = new ClientFactory({
      transports: [transportOf(pool.fetch)],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl: pool.fetch }),
    });
    return createSdkClient(await factory.createFromUrl(address), () => pool.close());
  } catch (cause) {
    await pool.close();
    throw new MeshError('agent', `A2A: cannot connect to ${address}: ${shortenReason(textOf(cause))}`, {
      cause,
    });
  }
}

/** Creates a client of packets over a client of the SDK, for any transport. */
export function createSdkClient(client: Client, close: () => Promise<void>): Omit<StackClient, 'wire'> {
  const serviceParameters = ServiceParameters.create(withA2AExtensions(MESH_EXTENSION));
  return createStackClient(async (message, signal) => {
    const request = {
      tenant: '',
      message: Message.fromJSON(message),
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
    return 'status' in result ? { task: Task.toJSON(result) } : { message: Message.toJSON(result) };
  }, close);
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
