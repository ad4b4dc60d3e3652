import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { Stack, StackSettings } from '../../contract/stack.ts';
import { HttpClient } from '../../http/http-client.ts';
import { meterStack } from '../../meter/metered.ts';
import { meshCard } from '../card.ts';
import { type A2aClient, type SendOptions, toTaskUpdate } from '../client.ts';
import { a2aTraits, createStackClient } from '../exchange.ts';
import { CARD_PATH } from '../interfaces.ts';
import { parseAnswer, sendResponseSchema, streamResponseSchema, taskResponseSchema } from '../model.ts';
import { packetToMessage } from '../packets.ts';
import { createWork } from '../work.ts';
import { jsonRpcDialect, parseJsonBody } from './dialects.ts';
import { createBareAgent, serveBareHttp } from './http-server.ts';
import { HttpWire } from './http-wire.ts';

/** A2A over JSON-RPC without any package at either end. */
export const a2aJsonRpcBare: Stack = meterStack({
  name: 'a2a/jsonrpc',
  protocol: 'a2a',
  transport: 'http1',
  implementation: 'bare',
  traits: a2aTraits,
  async serve(inbox, settings) {
    const { agent, close } = createBareAgent(meshCard, createWork(inbox), settings);
    const server = await serveBareHttp(agent, settings);
    return {
      address: server.url,
      port: server.port,
      async close() {
        close();
        await server.close();
      },
    };
  },
  connect: async (address, settings) => createStackClient(await connect(address, settings), settings),
});

const cardSchema = z.looseObject({
  supportedInterfaces: z.array(z.looseObject({ url: z.string(), protocolBinding: z.string() })),
});

/**
 * Reads the agent card and creates a client of its JSON-RPC interface.
 *
 * @throws MeshError `agent` if the card cannot be read, `packet` if it has no such interface
 */
async function connect(address: string, settings: StackSettings): Promise<A2aClient> {
  const http = new HttpClient(address, settings);
  try {
    const url = await findInterface(http, address, settings);
    return new BareClient(new HttpWire(jsonRpcDialect, http, new URL(url).pathname), settings);
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

/** The minimal client of A2A. */
class BareClient implements A2aClient {
  readonly #wire: HttpWire;
  readonly #settings: Pick<StackSettings, 'history'>;

  constructor(wire: HttpWire, settings: Pick<StackSettings, 'history'>) {
    this.#wire = wire;
    this.#settings = settings;
  }

  async send(packet: Packet, options: SendOptions, signal: AbortSignal) {
    const params = this.#sendParams(packet, options);
    const answer = await this.#wire.call({ method: 'SendMessage', params }, signal);
    return toTaskUpdate(parseAnswer(sendResponseSchema, answer, 'answer'), packet.task_id);
  }

  async *stream(packet: Packet, signal: AbortSignal) {
    const params = this.#sendParams(packet, {});
    for await (const event of this.#wire.events({ method: 'SendStreamingMessage', params }, signal))
      yield toTaskUpdate(parseAnswer(streamResponseSchema, event, 'event'), packet.task_id);
  }

  async get(id: string, signal: AbortSignal) {
    const params = { id, historyLength: this.#historyLength };
    const answer = await this.#wire.call({ method: 'GetTask', params }, signal);
    const task = parseAnswer(taskResponseSchema, answer, 'task');
    return toTaskUpdate({ task }, task.contextId);
  }

  async *subscribe(id: string, signal: AbortSignal) {
    let contextId = '';
    for await (const came of this.#wire.events({ method: 'SubscribeToTask', params: { id } }, signal)) {
      const event = parseAnswer(streamResponseSchema, came, 'event');
      if ('task' in event) contextId = event.task.contextId;
      yield toTaskUpdate(event, contextId);
    }
  }

  close(): void {
    this.#wire.close();
  }

  #sendParams(packet: Packet, { returnImmediately, webhook }: SendOptions): object {
    const configuration = {
      historyLength: this.#historyLength,
      returnImmediately: returnImmediately === true ? true : undefined,
      taskPushNotificationConfig: webhook === undefined ? undefined : { url: webhook },
    };
    const isDefault = Object.values(configuration).every((value) => value === undefined);
    return {
      message: packetToMessage(packet),
      configuration: isDefault ? undefined : configuration,
    };
  }

  get #historyLength(): number | undefined {
    return this.#settings.history ? undefined : 0;
  }
}
