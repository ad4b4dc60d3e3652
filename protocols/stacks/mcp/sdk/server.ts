import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import type { StackSettings } from '../../contract/stack.ts';
import { type HttpServer, listenHttp } from '../../http/http-server.ts';
import { MCP_PATH } from '../revision.ts';
import type { McpTool } from '../tools.ts';

/** Creates a server of the SDK with `tools`; HTTP makes one for each request, as its revision has no sessions. */
export function createSdkServer(tools: readonly McpTool[]): McpServer {
  const server = new McpServer({ name: 'mesh', version: '1' }, { capabilities: { tools: {} } });
  for (const { name, description, inputSchema, outputSchema, call } of tools) {
    const config = { description, inputSchema, ...(outputSchema === undefined ? {} : { outputSchema }) };
    server.registerTool(name, config, async (args, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      const { content, ...rest } = await call(args, {
        signal: mcpReq.signal,
        async progress(progress, total, message) {
          if (progressToken === undefined) return;
          const said = { progressToken, progress, total, message };
          await mcpReq.notify({ method: 'notifications/progress', params: said });
        },
      });
      return { content: [...content], ...rest };
    });
  }
  return server;
}

/** Serves `make` over streamable HTTP at `/mcp`, behind the SDK's own checks of host and origin. */
export async function serveSdkHttp(make: () => McpServer, settings: StackSettings): Promise<HttpServer> {
  // Only a server over HTTP needs it.
  const node = await import('@modelcontextprotocol/node');
  const handler = createMcpHandler(make, { legacy: 'reject', maxRequestBodySize: MAX_FRAME_BYTES });
  const listener = node.toNodeHandler(handler, { maxRequestBodySize: MAX_FRAME_BYTES });
  const [isHost, isOrigin] = [node.localhostHostValidation(), node.localhostOriginValidation()];
  const server = await listenHttp((request, response) => {
    const { url, method = 'GET' } = request;
    if (url !== MCP_PATH) response.writeHead(404).end();
    else if (isHost(request, response) && isOrigin(request, response))
      void listener(Object.assign(request, { url, method }), response);
  }, settings);
  return {
    ...server,
    async close() {
      await handler.close();
      await server.close();
    },
  };
}
