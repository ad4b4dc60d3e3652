import type { IncomingMessage, ServerResponse } from 'node:http';
import { writeEvent, writeEventHead } from '../../http/event-stream.ts';
import { bodyOf } from '../../http/http-server.ts';
import { HEADER_MISMATCH, INVALID_REQUEST, mcpError, mcpFaultOf, PARSE_ERROR } from './errors.ts';
import { errorResponse, type McpRequest, type McpServer, readRequest } from './mcp-server.ts';

/** Streamable HTTP (basic/transports): a POST a message, answered by one JSON object, or by a stream once there is more to say. */
export async function serveMcpHttp(
  server: McpServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!isLocal(request)) {
    writeJson(
      response,
      403,
      errorResponse(undefined, mcpError(INVALID_REQUEST, 'not a local origin or host')),
    );
    return;
  }
  if (request.method !== 'POST') {
    response.writeHead(405, { Allow: 'POST' }).end();
    return;
  }
  let id: McpRequest['id'];
  try {
    const message = readRequest(parsed(await bodyOf(request)));
    id = message.id;
    checkHeaders(request, message);
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const abort = new AbortController();
    response.once('close', () => abort.abort());
    const notify = async (notification: object) => {
      if (!response.headersSent) writeEventHead(response);
      await writeEvent(response, JSON.stringify(notification));
    };
    const answer = await server.handle(message, notify, abort.signal);
    if (!response.headersSent) writeJson(response, 200, answer);
    else response.end(`data: ${JSON.stringify(answer)}\n\n`);
  } catch (error) {
    const answer = errorResponse(id, error);
    if (!response.headersSent) writeJson(response, mcpFaultOf(error).httpStatus, answer);
    else response.end(`data: ${JSON.stringify(answer)}\n\n`);
  }
}

function writeJson(response: ServerResponse, status: number, value: object): void {
  const text = JSON.stringify(value);
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
  response.writeHead(status, headers).end(text);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw mcpError(PARSE_ERROR, 'the body is not JSON');
  }
}

/** Fields of the body that gateways can read without it; both must say the same ("Server Validation"). */
function checkHeaders({ headers }: IncomingMessage, { method, params }: McpRequest): void {
  const meta = Object(params?._meta);
  const expected = new Map<string, unknown>([
    ['MCP-Protocol-Version', meta['io.modelcontextprotocol/protocolVersion']],
    ['Mcp-Method', method],
  ]);
  if (method === 'tools/call' || method === 'prompts/get') expected.set('Mcp-Name', params?.name);
  if (method === 'resources/read') expected.set('Mcp-Name', params?.uri);
  for (const [name, value] of expected) {
    const came = headers[name.toLowerCase()];
    if (typeof value === 'string' && decoded(String(came)) !== value)
      throw mcpError(HEADER_MISMATCH, `${name}: the body says ${value.slice(0, 64)}, the header ${came}`);
  }
}

/** What is no plain ASCII is written in base64 ("Value Encoding"). */
function decoded(value: string): string {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value.trim())?.[1];
  return encoded === undefined ? value.trim() : Buffer.from(encoded, 'base64').toString();
}

const LOCAL = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/** A page in a browser must not reach a local server by a name that resolves to it (DNS rebinding, "Security Warning"). */
function isLocal({ headers: { host, origin } }: IncomingMessage): boolean {
  const isLocalOrigin = origin === undefined || LOCAL.test(origin.replace(/^https?:\/\//, ''));
  return LOCAL.test(host ?? '') && isLocalOrigin;
}
