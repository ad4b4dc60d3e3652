import type { Stack } from '../../contract/stack.ts';
import { metered } from '../../meter/metered.ts';
import { meshCard } from '../card.ts';
import { a2aTraits, createStackClient } from '../exchange.ts';
import { type AgentInterface, interfacesAt } from '../interfaces.ts';
import { workOf } from '../work.ts';
import { connectSdk, type TransportOf } from './client.ts';
import { sdkAgent, serveSdkHttp } from './server.ts';

/** A2A over HTTP with its own SDK at both ends, on express and undici. */
export const a2aJsonRpcSdk = sdkHttp('a2a/jsonrpc', 'JSONRPC', ({ client }, fetchImpl) => {
  return new client.JsonRpcTransportFactory({ fetchImpl });
});
export const a2aRestSdk = sdkHttp('a2a/rest', 'HTTP+JSON', ({ client }, fetchImpl) => {
  return new client.RestTransportFactory({ fetchImpl });
});

function sdkHttp(
  name: string,
  protocolBinding: AgentInterface['protocolBinding'],
  transportOf: TransportOf,
): Stack {
  const purpose = `the stack ${name}`;
  return metered({
    name,
    protocol: 'a2a',
    transport: 'http1',
    implementation: 'sdk',
    traits: a2aTraits,
    async serve(inbox, settings) {
      const agent = await sdkAgent(purpose, meshCard, workOf(inbox), settings);
      const server = await serveSdkHttp(purpose, agent, settings);
      agent.setInterfaces(interfacesAt(server.url, [protocolBinding]));
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
