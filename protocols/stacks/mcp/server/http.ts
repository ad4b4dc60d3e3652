import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HeldBytes, KeptBytes } from '@gaia-mesh/core/system/kept-bytes.ts';
import { estimateBytes } from '@gaia-mesh/core/system/parse-json.ts';
import { writeEvent, writeLast } from '../../http/event-stream.ts';
import { readRequestBody, writeJson } from '../../http/http-server.ts';
import {
  buildErrorResponse,
  createFaultError,
  type RpcRequest,
  readRequest,
  toFault,
} from '../../json-rpc.ts';
import { checkRevision, isLegacy, type LegacySessions } from './legacy.ts';
import type { McpServer } from './mcp-server.ts';

/**
 * Serves streamable HTTP (basic/transports): each message is a POST, answered by one JSON object, or by a
 * stream if notifications come before the response.
 */
export async function serveMcpHttp(
  server: McpServer,
  request: IncomingMessage,
  response: ServerResponse,
  {
    isAllowed = isLocal,
    maxBodyBytes,
    kept,
    sessions,
  }: {
    /** Decides whether a request is served at all; by default host and origin must be this machine's. */
    readonly isAllowed?: (request: IncomingMessage) => boolean;
    readonly maxBodyBytes?: number;
    /** Budget of bytes for requests while they are worked on, and for answers until they are sent. */
    readonly kept?: KeptBytes;
    /** Sessions of a server that takes the earlier revisions. */
    readonly sessions?: LegacySessions;
  } = {},
): Promise<void> {
  if (!isAllowed(request)) {
    return refuse(response, 403, 'not a local origin or host');
  }
  const named = readHeader(request, 'mcp-session-id');
  const calls = named === undefined ? undefined : sessions?.find(named);
  if (named !== undefined && sessions !== undefined && calls === undefined) {
    // A client begins a new session after this status (2025-11-25, "Session Management").
    return refuse(response, 404, 'no such session');
  }
  if (request.method === 'DELETE' && named !== undefined && sessions !== undefined) {
    sessions.close(named);
    response.writeHead(204).end();
    return;
  }
  if (request.method !== 'POST') {
    response.writeHead(405, { Allow: 'POST' }).end();
    return;
  }
  let message: RpcRequest | undefined;
  let held: HeldBytes | undefined;
  const revision = readHeader(request, 'mcp-protocol-version');
  try {
    const body = await readRequestBody(request, response, { most: maxBodyBytes, kept });
    if (body === undefined) return;
    message = readRequest(body.toString(), kept?.mostEach);
    held = kept?.hold(estimateBytes(message));
    const { id, method } = message;
    if (sessions !== undefined && revision !== undefined) checkRevision(message, revision);
    if (sessions === undefined || !isLegacy(message, revision)) checkHeaders(request, message);
    if (id === undefined) {
      calls?.notify(message);
      response.writeHead(202).end();
      return;
    }
    const call = calls?.begin(id) ?? new AbortController();
    // The answer could not be fetched later, so work for a client that went away ends with it, in the earlier
    // revisions, too.
    response.once('close', () => call.abort());
    const notify = (notification: object) => writeEvent(response, JSON.stringify(notification));
    try {
      const answer = await server.handle(message, notify, call.signal, revision);
      if (sessions !== undefined && method === 'initialize')
        response.setHeader('Mcp-Session-Id', sessions.open());
      const text = JSON.stringify(answer);
      kept?.holdUntilSent(text.length, response);
      writeLast(response, 200, text);
    } finally {
      calls?.end(id, call);
    }
  } catch (error) {
    // In the earlier revisions 404 is a session's end, and other statuses are no answer to a request.
    const isOfLegacy = sessions !== undefined && message !== undefined && isLegacy(message, revision);
    const status = isOfLegacy ? 200 : toFault(error).httpStatus;
    writeLast(response, status, JSON.stringify(buildErrorResponse(message?.id, error)));
  } finally {
    held?.release();
  }
}

function readHeader({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

function refuse(response: ServerResponse, status: number, why: string): void {
  const answer = buildErrorResponse(undefined, createFaultError('invalidRequest', why));
  writeJson(response, status, JSON.stringify(answer));
}

/** Checks the headers that repeat fields of the body for gateways; both must agree ("Server Validation"). */
function checkHeaders({ headers }: IncomingMessage, { method, params }: RpcRequest): void {
  const meta = Object(params?._meta);
  const expected = new Map<string, unknown>([
    ['MCP-Protocol-Version', meta['io.modelcontextprotocol/protocolVersion']],
    ['Mcp-Method', method],
  ]);
  if (method === 'tools/call' || method === 'prompts/get') expected.set('Mcp-Name', params?.name);
  if (method === 'resources/read') expected.set('Mcp-Name', params?.uri);
  for (const [name, value] of expected) {
    const came = headers[name.toLowerCase()];
    if (typeof value === 'string' && decodeHeaderValue(String(came)) !== value)
      throw createFaultError(
        'headerMismatch',
        `${name}: the body says ${value.slice(0, 64)}, the header ${came}`,
      );
  }
}

/** Decodes a header's value: one that is not plain ASCII is written in base64 ("Value Encoding"). */
function decodeHeaderValue(value: string): string {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value.trim())?.[1];
  return encoded === undefined ? value.trim() : Buffer.from(encoded, 'base64').toString();
}

const LOCAL = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/**
 * Returns true if host and origin are this machine's: a page in a browser must not reach a local server by a
 * name that resolves to it (DNS rebinding, "Security Warning").
 */
function isLocal({ headers: { host, origin } }: IncomingMessage): boolean {
  const isLocalOrigin = origin === undefined || LOCAL.test(origin.replace(/^https?:\/\//, ''));
  return LOCAL.test(host ?? '') && isLocalOrigin;
}
