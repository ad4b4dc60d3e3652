import type { IncomingMessage, ServerResponse } from 'node:http';
import { MeshError } from '../../../../core/contracts/errors.ts';
import type { StackSettings } from '../../contract/stack.ts';
import { type ClientSettings, HttpClient } from '../../http/http-client.ts';
import { type HttpServer, listenHttp } from '../../http/http-server.ts';
import { A2aAgent, type AgentCard, type AgentLimits } from '../agent/agent.ts';
import type { PushSender } from '../agent/push.ts';
import { type AgentInterface, CARD_PATH, interfacesAt, JSON_RPC_PATH, REST_PATH } from '../interfaces.ts';
import type { PushConfig } from '../model.ts';
import type { AgentWork } from '../work.ts';
import { cardText, serveCard } from './http-requests.ts';
import { serveJsonRpc } from './json-rpc-server.ts';
import { serveRest } from './rest-server.ts';

/** A webhook that does not answer in this time is given up, so that it holds up nobody. */
const PUSH_TIMEOUT_MS = 5_000;

/**
 * Serves an agent without any package: its card, JSON-RPC and REST on one port.
 *
 * @param further interfaces on other ports, such as gRPC's
 */
export async function serveBareHttp(
  agent: A2aAgent,
  protocols: readonly AgentInterface['protocolBinding'][],
  settings: StackSettings,
  further: readonly AgentInterface[] = [],
): Promise<HttpServer> {
  let card = '';
  const server = await listenHttp((request, response) => {
    if (!answerA2a(agent, card, request, response)) response.writeHead(404).end();
  }, settings);
  card = cardText(agent, interfacesAt(server.url, protocols, further));
  return server;
}

/** Answers a request for an agent's card, JSON-RPC or REST; false for one of something else. */
export function answerA2a(
  agent: A2aAgent,
  card: string,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const path = request.url ?? '/';
  if (path === CARD_PATH) serveCard(response, card);
  else if (path === JSON_RPC_PATH || path === `${JSON_RPC_PATH}/`)
    void serveJsonRpc(agent, request, response);
  else if (path.startsWith(`${REST_PATH}/`))
    void serveRest(agent, path.slice(REST_PATH.length), request, response);
  else return false;
  return true;
}

/** Places of webhooks that connections are kept to. */
const MAX_WEBHOOK_CLIENTS = 64;

/** An agent and what it calls webhooks with. */
export function bareAgent(card: AgentCard, work: AgentWork, settings: ClientSettings, limits?: AgentLimits) {
  const webhooks = new Map<string, HttpClient>();
  const send: PushSender = async (config, event) => {
    const { origin, pathname, search } = new URL(config.url);
    const http = webhooks.get(origin) ?? new HttpClient(origin, settings);
    webhooks.delete(origin);
    webhooks.set(origin, http);
    const [oldest] = webhooks;
    if (webhooks.size > MAX_WEBHOOK_CLIENTS && oldest !== undefined) {
      webhooks.delete(oldest[0]);
      oldest[1].close();
    }
    const { status } = await http.fetch({
      method: 'POST',
      path: `${pathname}${search}`,
      headers: { 'Content-Type': 'application/a2a+json', ...authorizationOf(config) },
      body: JSON.stringify(event),
      signal: AbortSignal.timeout(PUSH_TIMEOUT_MS),
    });
    if (status >= 300)
      throw new MeshError('agent', `${origin}: expected the event to be taken, came ${status}`);
  };
  const agent = new A2aAgent(card, work, send, limits);
  return {
    agent,
    close() {
      agent.close();
      for (const http of webhooks.values()) http.close();
    },
  };
}

function authorizationOf({ authentication, token }: PushConfig): Record<string, string> {
  if (authentication !== undefined)
    return { Authorization: `${authentication.scheme} ${authentication.credentials ?? ''}`.trim() };
  return token === undefined || token === '' ? {} : { 'X-A2A-Notification-Token': token };
}
