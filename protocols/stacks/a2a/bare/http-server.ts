import type { IncomingMessage, ServerResponse } from 'node:http';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { KEPT_LIMITS, MAX_MESSAGE_DEPTH } from '@gaia-mesh/core/contracts/limits.ts';
import { parseForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import * as z from 'zod';
import type { StackSettings } from '../../contract/stack.ts';
import { writeEvents, writeLast } from '../../http/event-stream.ts';
import { HttpClient } from '../../http/http-client.ts';
import { type HttpServer, listenHttp, readPath, readRequestBody, writeJson } from '../../http/http-server.ts';
import { A2aAgent, type AgentCard, type PushSender } from '../agent/agent.ts';
import { createFaultError, toFault } from '../agent/faults.ts';
import { encodeAnswer } from '../agent/task.ts';
import { type AgentInterface, CARD_PATH, listInterfaces, PATHS } from '../interfaces.ts';
import type { PushConfig } from '../model.ts';
import type { AgentWork } from '../work.ts';
import { legacy } from './legacy.ts';

/** Time after which a webhook without an answer is given up, so that it does not delay other events. */
const PUSH_TIMEOUT_MS = 5_000;

/** Serves an agent without any package: its card and JSON-RPC on one port. */
export async function serveBareHttp(agent: A2aAgent, settings: StackSettings): Promise<HttpServer> {
  let card = '';
  const server = await listenHttp((request, response) => {
    if (!answerA2a(agent, card, request, response)) response.writeHead(404).end();
  }, settings);
  card = formatCard(agent, listInterfaces(server.url, ['JSONRPC']));
  return server;
}

/** Answers a request for an agent's card, or to its JSON-RPC; returns false for any other request. */
export function answerA2a(
  agent: A2aAgent,
  card: string,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const path = readPath(request);
  if (path === CARD_PATH) serveCard(response, card);
  else if (path === PATHS.JSONRPC) void serveJsonRpc(agent, request, response);
  else return false;
  return true;
}

/** Formats the agent card for clients: addresses first, as the order of transports is their preference (§8.3). */
export function formatCard({ card }: A2aAgent, supportedInterfaces: readonly AgentInterface[]): string {
  return JSON.stringify({ supportedInterfaces, ...card });
}

/** Time for which a client may cache an agent card; it does not change while the server runs (§8.6). */
const CARD_MAX_AGE_S = 3600;

function serveCard(response: ServerResponse, card: string): void {
  writeJson(response, 200, card, {
    'Cache-Control': `public, max-age=${CARD_MAX_AGE_S}`,
    ETag: `"${card.length.toString(16)}"`,
  });
}

const WEBHOOK_SETTINGS = { tls: null, connections: 4, keepAliveMs: 5_000 };
/** Maximum number of webhook hosts to which connections are kept. */
const MAX_WEBHOOK_CLIENTS = 64;

/** Creates an agent with the clients for its webhooks. */
export function createBareAgent(
  card: AgentCard,
  work: AgentWork,
  limits?: ConstructorParameters<typeof A2aAgent>[3],
) {
  const webhooks = new Map<string, HttpClient>();
  const send: PushSender = async (config, event) => {
    const { origin, pathname, search } = new URL(config.url);
    const isLegacy = config.protocolVersion === '0.3';
    const http = webhooks.get(origin) ?? new HttpClient(origin, WEBHOOK_SETTINGS, limits?.mayPush);
    webhooks.delete(origin);
    webhooks.set(origin, http);
    const [oldest] = webhooks;
    if (webhooks.size > MAX_WEBHOOK_CLIENTS && oldest !== undefined) {
      webhooks.delete(oldest[0]);
      oldest[1].close();
    }
    const status = await http.send({
      method: 'POST',
      path: `${pathname}${search}`,
      headers: {
        'Content-Type': isLegacy ? 'application/json' : 'application/a2a+json',
        ...buildAuthorization(config),
      },
      body: JSON.stringify(isLegacy ? legacy.writeEvent(event) : event),
      signal: AbortSignal.timeout(PUSH_TIMEOUT_MS),
    });
    if (status >= 300)
      throw new MeshError('agent', `${origin}: expected the event to be taken, received ${status}`);
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

function buildAuthorization({ authentication, token }: PushConfig): Record<string, string> {
  if (authentication !== undefined)
    return { Authorization: `${authentication.scheme} ${authentication.credentials ?? ''}`.trim() };
  return token === undefined || token === '' ? {} : { 'X-A2A-Notification-Token': token };
}

const requestSchema = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string().max(KEPT_LIMITS.idCharacters), z.number(), z.null()]),
  method: z.string(),
  params: z.unknown().optional(),
});
type Id = z.infer<typeof requestSchema>['id'];

const STREAMS: ReadonlySet<string> = new Set(['SendStreamingMessage', 'SubscribeToTask']);

/** Serves the JSON-RPC binding of A2A (§9): one path, one POST a request. */
async function serveJsonRpc(
  agent: A2aAgent,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let id: Id = null;
  try {
    if (request.method !== 'POST')
      throw createFaultError('invalidRequest', `expected POST, received ${request.method}`);
    const body = await readRequestBody(request, response, { most: agent.maxBodyBytes, kept: agent.kept });
    if (body === undefined) return;
    checkContentType(request);
    const value = parseBody(body, agent);
    const { success, data } = requestSchema.safeParse(value);
    if (!success) throw createFaultError('invalidRequest', 'expected jsonrpc 2.0 with an id and a method');
    id = data.id;
    const { operation, params, write } = readCall(data, request.headers['a2a-version']);
    if (STREAMS.has(operation)) {
      const events = agent.stream(operation, params, response);
      await writeEvents(response, formatAnswers(events, data.id, write));
      return;
    }
    const result = await agent.call(operation, params);
    const text = encodeAnswer(result, (written) =>
      JSON.stringify({ jsonrpc: '2.0', id, result: write(written) }),
    );
    agent.kept?.holdUntilSent(text.length, response);
    writeJson(response, 200, text);
  } catch (error) {
    const fault = toFault(error);
    const failure = { code: fault.code, message: toErrorMessage(error), data: buildErrorInfo(fault) };
    const text = JSON.stringify({ jsonrpc: '2.0', id, error: failure });
    writeLast(response, 200, text);
  }
}

/** Builds the details of an error (§9.5), empty for an error without a reason. */
function buildErrorInfo({ reason }: ReturnType<typeof toFault>): readonly object[] {
  if (reason === undefined) return [];
  return [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' }];
}

/** @throws MeshError with the fault `contentTypeNotSupported` */
function checkContentType({ headers }: IncomingMessage): void {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json' && type !== 'application/a2a+json')
    throw createFaultError(
      'contentTypeNotSupported',
      `Content-Type: expected application/json, received ${type}`,
    );
}

/**
 * Parses a body and keeps every number exact, so that ids return in answers unchanged.
 *
 * @throws MeshError with the fault `parseError`; `limit` for one that would take too much memory
 */
function parseBody(body: Buffer, { kept }: A2aAgent): unknown {
  try {
    const options = { maxDepth: MAX_MESSAGE_DEPTH, maxBytes: kept?.mostEach, isExact: true };
    return parseForeignJson(body.toString(), options);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw createFaultError('parseError', `the body is not JSON: ${toErrorMessage(error)}`);
  }
}

/** Reads a request of 1.0, or one of 0.3 as that of 1.0 which answers it. */
function readCall(
  { method, params }: Pick<z.infer<typeof requestSchema>, 'method' | 'params'>,
  version: unknown,
): NonNullable<ReturnType<typeof legacy.readCall>> {
  const converted = legacy.readCall(method, params, version);
  if (converted === undefined) checkVersion(version);
  return converted ?? { operation: method, params, write: (answer) => answer };
}

/**
 * Checks the version that a client states. A missing version means 0.3; the patch does not matter (§3.6).
 *
 * @throws MeshError with the fault `versionNotSupported`
 */
function checkVersion(version: unknown): void {
  if (typeof version === 'string' && /^1\.0(\.\d+)?$/.test(version)) return;
  const came = typeof version === 'string' && version !== '' ? version.slice(0, 16) : '0.3';
  const how = legacy.isVersion(version)
    ? ', which is spoken over JSON-RPC by its own methods (message/send)'
    : '';
  throw createFaultError('versionNotSupported', `A2A-Version: expected 1.0, received ${came}${how}`);
}

async function* formatAnswers(results: AsyncIterable<object>, id: Id, write: (result: object) => unknown) {
  for await (const result of results) yield JSON.stringify({ jsonrpc: '2.0', id, result: write(result) });
}
