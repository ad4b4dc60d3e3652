import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import * as z from 'zod';
import type { Stack, StackClient, StackSettings } from '../../contract/stack.ts';
import { HttpClient } from '../../http/http-client.ts';
import { meterStack } from '../../meter/metered.ts';
import { A2aAgent } from '../agent/agent.ts';
import { CARD_PATH } from '../card.ts';
import { parseAnswer } from '../model.ts';
import { createStackClient, createWork, meshCard } from '../packets.ts';
import { serveBareHttp } from './http-server.ts';
import { HttpWire, parseJsonBody } from './http-wire.ts';

/** A2A over JSON-RPC without any package at either end. */
export const a2aJsonRpcBare: Stack = meterStack({
  name: 'a2a/jsonrpc',
  protocol: 'a2a',
  transport: 'http1',
  implementation: 'bare',
  traits: { oneWay: 'acknowledged', hasTls: true },
  async serve(inbox, settings) {
    const server = await serveBareHttp(new A2aAgent(meshCard, createWork(inbox)), settings);
    return { address: server.url, port: server.port, close: () => server.close() };
  },
  connect,
});

const cardSchema = z.looseObject({
  supportedInterfaces: z.array(z.looseObject({ url: z.string(), protocolBinding: z.string() })),
});

/**
 * Reads the agent card and creates a client of its JSON-RPC interface.
 *
 * @throws MeshError `agent` if the card cannot be read, `packet` if it has no such interface
 */
async function connect(address: string, settings: StackSettings): Promise<Omit<StackClient, 'wire'>> {
  const http = new HttpClient(address, settings);
  try {
    const url = await findInterface(http, address, settings);
    const wire = new HttpWire(http, new URL(url).pathname);
    // Without it the answer would repeat the request.
    const configuration = { historyLength: 0 };
    return createStackClient(
      (message, signal) => wire.call({ method: 'SendMessage', params: { message, configuration } }, signal),
      async () => wire.close(),
    );
  } catch (error) {
    http.close();
    throw error;
  }
}

async function findInterface(
  http: HttpClient,
  address: string,
  { deadlineMs }: StackSettings,
): Promise<string> {
  const signal = AbortSignal.timeout(deadlineMs);
  const { status, text } = await http.fetch({ method: 'GET', path: CARD_PATH, signal });
  if (status !== 200)
    throw new MeshError('agent', `${address}${CARD_PATH}: expected 200, received ${status}`);
  const card = parseAnswer(cardSchema, parseJsonBody(text), 'agent card');
  const own = card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === 'JSONRPC');
  if (own === undefined) throw new MeshError('packet', `the card at ${address} has no interface JSONRPC`);
  return own.url;
}
