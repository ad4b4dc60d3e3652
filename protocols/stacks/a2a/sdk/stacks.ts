import type { Stack } from '../../contract/stack.ts';
import { meterStack } from '../../meter/metered.ts';
import { a2aTraits, createStackClient, meshCard } from '../exchange.ts';
import { listInterfaces } from '../interfaces.ts';
import { createWork } from '../work.ts';
import { connectSdk, type TransportOf } from './client.ts';
import { createSdkAgent, serveSdkHttp } from './server.ts';

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
      createStackClient(await connectSdk(purpose, transportOf, address, settings), settings),
  });
}
