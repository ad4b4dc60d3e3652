import * as z from 'zod';
import { MeshError } from '../../../../core/contracts/errors.ts';
import type { Stack, StackSettings } from '../../contract/stack.ts';
import { HttpClient } from '../../http/http-client.ts';
import { metered } from '../../meter/metered.ts';
import { meshCard } from '../card.ts';
import type { A2aClient } from '../client.ts';
import { type AgentInterface, CARD_PATH } from '../interfaces.ts';
import { checked } from '../model.ts';
import { createStackClient } from '../stack-client.ts';
import { a2aTraits } from '../traits.ts';
import { workOf } from '../work.ts';
import { BareClient } from './bare-client.ts';
import { type HttpDialect, jsonOf, jsonRpcDialect, restDialect } from './dialects.ts';
import { bareAgent, serveBareHttp } from './http-server.ts';
import { HttpWire } from './http-wire.ts';

/** A2A over HTTP without any package at either end. */
export const a2aJsonRpcBare = bareHttp('a2a/jsonrpc', jsonRpcDialect);
export const a2aRestBare = bareHttp('a2a/rest', restDialect);

function bareHttp(name: string, dialect: HttpDialect): Stack {
  return metered({
    name,
    protocol: 'a2a',
    transport: 'http1',
    implementation: 'bare',
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
      createStackClient(await connected(dialect, address, settings), settings),
  });
}

const cardSchema = z.looseObject({
  supportedInterfaces: z.array(z.looseObject({ url: z.string(), protocolBinding: z.string() })),
});

/**
 * A client that has read the agent card and taken the interface of its transport.
 *
 * @throws MeshError `agent` where no card can be had, `packet` where it has no such interface
 */
async function connected(dialect: HttpDialect, address: string, settings: StackSettings): Promise<A2aClient> {
  const http = new HttpClient(address, settings);
  try {
    const own = await interfaceIn(http, address, dialect.protocolBinding, settings);
    return new BareClient(new HttpWire(dialect, http, new URL(own).pathname), settings);
  } catch (error) {
    http.close();
    throw error;
  }
}

async function interfaceIn(
  http: HttpClient,
  address: string,
  protocol: AgentInterface['protocolBinding'],
  { deadlineMs }: StackSettings,
): Promise<string> {
  const signal = AbortSignal.timeout(deadlineMs);
  const { status, text } = await http.fetch({ method: 'GET', path: CARD_PATH, signal });
  if (status !== 200) throw new MeshError('agent', `${address}${CARD_PATH}: expected 200, came ${status}`);
  const card = checked(cardSchema, jsonOf(text), 'agent card');
  const own = card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === protocol);
  if (own === undefined) throw new MeshError('packet', `the card at ${address} has no interface ${protocol}`);
  return own.url;
}
