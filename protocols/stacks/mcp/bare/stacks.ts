import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_MESSAGE_DEPTH } from '@gaia-mesh/core/contracts/limits.ts';
import { parseForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import type { Stack, StackSettings } from '../../contract/stack.ts';
import { readEvents } from '../../http/event-stream.ts';
import { HttpClient } from '../../http/http-client.ts';
import { listenHttp, readBody } from '../../http/http-server.ts';
import { meterStack } from '../../meter/metered.ts';
import { MCP_PATH, MCP_REVISION } from '../revision.ts';
import { serveMcpHttp } from '../server/http.ts';
import { McpServer } from '../server/mcp-server.ts';
import { createPacketTool } from '../tools.ts';
import { connectBare, type McpCaller } from './client.ts';

/** MCP over streamable HTTP without any package at either end. */
export const mcpHttpBare: Stack = meterStack({
  name: 'mcp/http',
  protocol: 'mcp',
  transport: 'http1',
  implementation: 'bare',
  traits: { oneWay: 'acknowledged', hasTls: true },
  async serve(inbox, settings) {
    const mcp = new McpServer({ tools: [createPacketTool(inbox)] });
    const server = await listenHttp((request, response) => {
      if (request.url === MCP_PATH) void serveMcpHttp(mcp, request, response);
      else response.writeHead(404).end();
    }, settings);
    return { address: `${server.url}${MCP_PATH}`, port: server.port, close: () => server.close() };
  },
  connect: (address, settings) => connectBare(createHttpCaller(address, settings), settings),
});

/** Creates a caller over streamable HTTP: each request is a POST whose headers repeat the fields that gateways need. */
function createHttpCaller(address: string, settings: StackSettings): McpCaller {
  const http = new HttpClient(address, settings);
  const path = new URL(address).pathname;
  return {
    async call(request, signal) {
      const headers: Record<string, string> = {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': MCP_REVISION,
        'Mcp-Method': request.method,
      };
      const { name } = request.params;
      if (name !== undefined) headers['Mcp-Name'] = name;
      const body = JSON.stringify(request);
      const response = await http.open({ method: 'POST', path, headers, body, signal });
      if (response.headers['content-type']?.startsWith('text/event-stream') !== true)
        return parseReply((await readBody(response)).toString(), response.statusCode);
      let last: unknown;
      for await (const { data } of readEvents(response)) last = parseReply(data, response.statusCode);
      return last;
    },
    close: async () => http.close(),
  };
}

function parseReply(text: string, status: number | undefined): unknown {
  try {
    return parseForeignJson(text, { maxDepth: MAX_MESSAGE_DEPTH });
  } catch (cause) {
    throw new MeshError('packet', `MCP: expected JSON, received status ${status} with ${text.slice(0, 80)}`, {
      cause,
    });
  }
}
