import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Stack } from '../../contract/stack.ts';
import { createPooledFetch } from '../../http/undici-fetch.ts';
import { meterStack } from '../../meter/metered.ts';
import { MCP_PATH } from '../revision.ts';
import { createPacketTool } from '../tools.ts';
import { connectSdk } from './client.ts';
import { createSdkServer, serveSdkHttp } from './server.ts';

/** MCP over streamable HTTP with its own SDK at both ends, on Node's HTTP server and undici. */
export const mcpHttpSdk: Stack = meterStack({
  name: 'mcp/http',
  protocol: 'mcp',
  transport: 'http1',
  implementation: 'sdk',
  traits: { oneWay: 'acknowledged', hasTls: true },
  async serve(inbox, settings) {
    const tools = [createPacketTool(inbox)];
    const server = await serveSdkHttp(() => createSdkServer(tools), settings);
    return { address: `${server.url}${MCP_PATH}`, port: server.port, close: () => server.close() };
  },
  async connect(address, settings) {
    const { fetch, close } = createPooledFetch(settings);
    return connectSdk(new StreamableHTTPClientTransport(new URL(address), { fetch }), settings, close);
  },
});
