import type { Readable, Writable } from 'node:stream';
import { withPackage } from '@gaia-mesh/core/system/optional-package.ts';
import type { Inbox } from '../../contract/stack.ts';
import { loadServer } from '../sdk/sdk.ts';
import { createSdkServer } from '../sdk/server.ts';
import { McpServer } from '../server/mcp-server.ts';
import { createPacketTool } from '../tools.ts';
import { serveStdio } from './bare-server.ts';

/** Name of the stack in messages about missing packages. */
export const PURPOSE = 'the stack mcp/stdio';

/** Maximum bytes of a line that the SDK's reader buffers. */
const SDK_LINE_BYTES = 10 * 1024 * 1024;

/** Serves one client on a pair of pipes. */
export async function servePipes(
  implementation: 'sdk' | 'bare',
  inbox: Inbox,
  readable: Readable,
  writable: Writable,
): Promise<void> {
  const tools = [createPacketTool(inbox)];
  if (implementation === 'bare') {
    void serveStdio(new McpServer({ tools }), readable, writable);
    return;
  }
  const { sdk, stdio } = await loadStdioServer();
  const transport = new stdio.StdioServerTransport(readable, writable, { maxBufferSize: SDK_LINE_BYTES });
  stdio.serveStdio(() => createSdkServer(sdk, tools), { legacy: 'reject', transport });
}

/** @throws MeshError `config` with the package to install */
export async function loadStdioServer() {
  const sdk = await loadServer(PURPOSE);
  const stdio = await withPackage(
    '@modelcontextprotocol/server@2',
    PURPOSE,
    () => import('@modelcontextprotocol/server/stdio'),
  );
  return { sdk, stdio };
}
