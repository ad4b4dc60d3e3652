import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import type { HttpBinding } from './http-binding.ts';
import { call, type Ends } from './json-rpc.ts';

const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';

const callSchema = z.object({
  method: z.string(),
  params: z.object({ name: z.string(), _meta: z.object({ [PROTOCOL_VERSION]: z.string() }) }),
});
const result = z.object({ resultType: z.literal('complete'), content: z.array(z.unknown()) });

/**
 * Model Context Protocol 2026-07-28 on Streamable HTTP (basic/transports/streamable-http): each call is a POST that says in headers
 * again what the body says ("Request Metadata"), and the answer is a `CallToolResult` as one JSON object. The revision has no
 * sessions, so there is nothing before the first call.
 */
export function mcpHttp({ write, read }: Ends): HttpBinding {
  return {
    adapter: 'mcp',
    client: '`fetch`',
    connect: async (url) => async (packet, signal) => {
      const body = write(packet);
      const headers = { Accept: 'application/json, text/event-stream', ...metadataOf(body) };
      await call(url, packet.id, { body, headers, result, signal });
    },
    answer: async (request, body) => {
      assertMetadata(request, body);
      const { id } = read(body);
      const serverInfo = { name: 'mesh', version: '1' };
      const _meta = { 'io.modelcontextprotocol/serverInfo': serverInfo };
      return { body: { jsonrpc: '2.0', id, result: { resultType: 'complete', content: [], _meta } } };
    },
  };
}

/** Fields of the body that gateways shall be able to read without it. The tool's name is plain ASCII. */
function metadataOf(body: Buffer): Record<string, string> {
  const { method, params } = callSchema.parse(JSON.parse(body.toString()));
  return {
    'MCP-Protocol-Version': params._meta[PROTOCOL_VERSION],
    'Mcp-Method': method,
    'Mcp-Name': params.name,
  };
}

/** @throws Error where a server must refuse ("Server Validation") */
function assertMetadata({ headers }: IncomingMessage, body: Buffer): void {
  for (const [name, value] of Object.entries(metadataOf(body))) {
    const came = headers[name.toLowerCase()];
    if (came !== value) throw new Error(`header mismatch: ${name} is ${came}, the body has ${value}`);
  }
}
