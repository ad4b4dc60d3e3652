import type { Stack } from '../../contract/stack.ts';
import { createPooledFetch } from '../../http/undici-fetch.ts';
import { meterStack } from '../../meter/metered.ts';
import { MCP_PATH } from '../revision.ts';
import { createPacketTool, mcpHttpTraits } from '../tools.ts';
import { connectSdk } from './client.ts';
import { loadClient } from './sdk.ts';
import { createSdkServer, serveSdkHttp } from './server.ts';

const HTTP = 'the stack mcp/http';

/** MCP over streamable HTTP with its own SDK at both ends, on Node's HTTP server and undici. */
export const mcpHttpSdk: Stack = meterStack({
  name: 'mcp/http',
  protocol: 'mcp',
  transport: 'http1',
  implementation: 'sdk',
  traits: mcpHttpTraits,
  async serve(inbox, settings) {
    const tools = [createPacketTool(inbox)];
    const server = await serveSdkHttp(HTTP, (sdk) => createSdkServer(sdk, tools), settings);
    return { address: `${server.url}${MCP_PATH}`, port: server.port, close: () => server.close() };
  },
  async connect(address, settings) {
    const { StreamableHTTPClientTransport } = await loadClient(HTTP);
    const pool = createPooledFetch(settings);
    const transport = new StreamableHTTPClientTransport(new URL(address), { fetch: pool.fetch });
    try {
      const client = await connectSdk(HTTP, transport, settings);
      return {
        exchange: client.exchange,
        async close() {
          await client.close();
          await pool.close();
        },
      };
    } catch (error) {
      await pool.close();
      throw error;
    }
  },
});
