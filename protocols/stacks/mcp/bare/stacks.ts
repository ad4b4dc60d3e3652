import type { Stack } from '../../contract/stack.ts';
import { listenHttp } from '../../http/http-server.ts';
import { metered } from '../../meter/metered.ts';
import { MCP_PATH } from '../revision.ts';
import { serveMcpHttp } from '../server/http.ts';
import { McpServer } from '../server/mcp-server.ts';
import { packetTool } from '../tools.ts';
import { mcpHttpTraits } from '../traits.ts';
import { BareMcpClient } from './client.ts';
import { httpCaller } from './http-caller.ts';

/** MCP over streamable HTTP without any package at either end. */
export const mcpHttpBare: Stack = metered({
  name: 'mcp/http',
  protocol: 'mcp',
  transport: 'http1',
  implementation: 'bare',
  traits: mcpHttpTraits,
  async serve(inbox, settings) {
    const mcp = new McpServer({ tools: [packetTool(inbox, settings)] });
    const server = await listenHttp((request, response) => {
      if (request.url === MCP_PATH) void serveMcpHttp(mcp, request, response);
      else response.writeHead(404).end();
    }, settings);
    return { address: `${server.url}${MCP_PATH}`, port: server.port, close: () => server.close() };
  },
  connect: async (address, settings) => BareMcpClient.connect(httpCaller(address, settings), settings),
});
