import type { Binding, BindingClient, BindingSettings } from '../../contract/binding.ts';
import { noWire } from '../../contract/no-wire.ts';
import { meshCard } from '../card.ts';
import type { A2aClient } from '../client.ts';
import { exchangeOver } from '../exchange.ts';
import { a2aTraits } from '../traits.ts';
import { Webhook } from '../webhook.ts';
import { workOf } from '../work.ts';
import { jsonRpcDialect, restDialect } from './dialects.ts';
import { connectBareHttp, type HttpDialect } from './http-client.ts';
import { bareAgent, serveBareHttp } from './http-server.ts';

/** A2A over HTTP without any package at either end. */
export const a2aJsonRpcBare = bareHttp('a2a/jsonrpc', jsonRpcDialect);
export const a2aRestBare = bareHttp('a2a/rest', restDialect);

function bareHttp(name: string, dialect: HttpDialect): Binding {
  return {
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
        wire: noWire,
        async close() {
          close();
          await server.close();
        },
      };
    },
    connect: async (address, settings) =>
      bindingClient(await connectBareHttp(dialect, address, settings), settings),
  };
}

/** Exchanges of packets over any client of A2A. */
async function bindingClient(client: A2aClient, settings: BindingSettings): Promise<BindingClient> {
  const webhook = settings.later === 'push' ? await Webhook.start(settings) : undefined;
  return {
    exchange: async (packet, signal) => {
      const both = AbortSignal.any([signal, AbortSignal.timeout(settings.deadlineMs)]);
      return exchangeOver(client, webhook, packet, settings, both);
    },
    wire: noWire,
    async close() {
      await client.close();
      await webhook?.close();
    },
  };
}
