import type { IncomingMessage, ServerResponse } from 'node:http';
import type { StackSettings } from '../../contract/stack.ts';
import { writeEvents, writeLast } from '../../http/event-stream.ts';
import { type HttpServer, listenHttp, readPath, readRequestBody, writeJson } from '../../http/http-server.ts';
import { buildErrorResponse, createFaultError, type RpcRequest, readRequest } from '../../json-rpc.ts';
import type { A2aAgent } from '../agent/agent.ts';
import { encodeAnswer } from '../agent/task.ts';
import { type AgentCard, type AgentInterface, CARD_PATH, listInterfaces, PATHS } from '../card.ts';
import { legacy } from './legacy.ts';

/** Serves an agent without any package: its card and JSON-RPC on one port. The agent is closed with its server. */
export async function serveBareHttp(agent: A2aAgent, settings: StackSettings): Promise<HttpServer> {
  let card = '';
  const server = await listenHttp((request, response) => {
    if (!answerA2a(agent, card, request, response)) response.writeHead(404).end();
  }, settings);
  card = formatCard(agent.card, listInterfaces(server.url, ['JSONRPC']));
  return {
    ...server,
    async close() {
      agent.close();
      await server.close();
    },
  };
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
export function formatCard(card: AgentCard, supportedInterfaces: readonly AgentInterface[]): string {
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

const STREAMS: ReadonlySet<string> = new Set(['SendStreamingMessage', 'SubscribeToTask']);

/** Serves the JSON-RPC binding of A2A (§9): one path, one POST a request. */
async function serveJsonRpc(
  agent: A2aAgent,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let id: RpcRequest['id'];
  try {
    if (request.method !== 'POST')
      throw createFaultError('invalidRequest', `expected POST, received ${request.method}`);
    const body = await readRequestBody(request, response, { most: agent.maxBodyBytes, kept: agent.kept });
    if (body === undefined) return;
    checkContentType(request);
    const call = readRequest(body.toString(), agent.kept?.mostEach);
    id = call.id;
    if (id === undefined) throw createFaultError('invalidRequest', 'expected a request with an id');
    const { operation, params, write } = readCall(call, request.headers['a2a-version']);
    if (STREAMS.has(operation)) {
      const events = agent.stream(operation, params, response);
      await writeEvents(response, formatAnswers(events, id, write));
      return;
    }
    const result = await agent.call(operation, params);
    const text = encodeAnswer(result, (written) =>
      JSON.stringify({ jsonrpc: '2.0', id, result: write(written) }),
    );
    agent.kept?.holdUntilSent(text.length, response);
    writeJson(response, 200, text);
  } catch (error) {
    writeLast(response, 200, JSON.stringify(buildErrorResponse(id, error)));
  }
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

/** Reads a request of 1.0, or one of 0.3 as that of 1.0 which answers it. */
function readCall(
  { method, params }: RpcRequest,
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

async function* formatAnswers(
  results: AsyncIterable<object>,
  id: RpcRequest['id'],
  write: (result: object) => unknown,
) {
  for await (const result of results) yield JSON.stringify({ jsonrpc: '2.0', id, result: write(result) });
}
