import { ResourceNotFoundError } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { listenHttp } from '../http/http-server.ts';
import { createFaultError } from '../json-rpc.ts';
import { MCP_PATH } from '../mcp/revision.ts';
import { createSdkServer, serveSdkHttp } from '../mcp/sdk/server.ts';
import { serveMcpHttp } from '../mcp/server/http.ts';
import { LegacySessions } from '../mcp/server/legacy.ts';
import { McpServer } from '../mcp/server/mcp-server.ts';
import { fixtureMethods, fixtureTools } from './mcp-fixtures.ts';
import { testSettings } from './settings.ts';

const fixtureCapabilities = { resources: {}, prompts: {}, completions: {} };

/** A server with everything the conformance suite asks for, on our bare core or on the SDK. */
interface FixtureServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function bareMcpServer(): Promise<FixtureServer> {
  const methods = fixtureMethods((uri) =>
    createFaultError('invalidParams', `no resource ${uri.slice(0, 64)}`, { uri }),
  );
  const mcp = new McpServer({
    tools: fixtureTools,
    methods,
    capabilities: fixtureCapabilities,
    takesLegacy: true,
  });
  const sessions = new LegacySessions();
  const server = await listenHttp(
    (request, response) => void serveMcpHttp(mcp, request, response, { sessions }),
    testSettings,
  );
  return { url: `${server.url}${MCP_PATH}`, close: () => server.close() };
}

export async function sdkMcpServer(): Promise<FixtureServer> {
  const server = await serveSdkHttp(() => {
    const made = createSdkServer(fixtureTools);
    made.server.registerCapabilities(fixtureCapabilities);
    const methods = fixtureMethods((uri) => new ResourceNotFoundError(uri));
    for (const [method, answer] of Object.entries(methods))
      made.server.setRequestHandler(method, { params: z.looseObject({}) }, async (params) => ({
        ...(await answer(Object(params))),
      }));
    return made;
  }, testSettings);
  return { url: `${server.url}${MCP_PATH}`, close: () => server.close() };
}
