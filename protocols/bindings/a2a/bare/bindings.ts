import type { Binding } from '../../contract/binding.ts';
import { metered } from '../../meter/metered.ts';
import { bindingClient } from '../binding-client.ts';
import { meshCard } from '../card.ts';
import { a2aTraits } from '../traits.ts';
import { workOf } from '../work.ts';
import { jsonRpcDialect, restDialect } from './dialects.ts';
import { connectBareHttp, type HttpDialect } from './http-client.ts';
import { bareAgent, serveBareHttp } from './http-server.ts';

/** A2A over HTTP without any package at either end. */
export const a2aJsonRpcBare = bareHttp('a2a/jsonrpc', jsonRpcDialect);
export const a2aRestBare = bareHttp('a2a/rest', restDialect);

function bareHttp(name: string, dialect: HttpDialect): Binding {
  return metered({
    name,
    protocol: 'a2a',
    transport: 'http1',
    implementation: 'bare',
    packages: [],
    traits: a2aTraits,
    async serve(inbox, settings) {
      const { agent, close } = bareAgent(meshCard, workOf(inbox), settings);
      const server = await serveBareHttp(agent, [dialect.protocolBinding], settings);
      return {
        address: server.url,
        port: server.port,
        async close() {
          close();
          await server.close();
        },
      };
    },
    connect: async (address, settings) =>
      bindingClient(await connectBareHttp(dialect, address, settings), settings),
  });
}
