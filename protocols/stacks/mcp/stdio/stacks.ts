import { withPackage } from '../../../../core/system/optional-package.ts';
import type { Stack } from '../../contract/stack.ts';
import { metered } from '../../meter/metered.ts';
import { BareMcpClient } from '../bare/client.ts';
import { connectSdk } from '../sdk/client.ts';
import { mcpStdioTraits } from '../traits.ts';
import { commandSchema, stdioCaller } from './bare-caller.ts';
import { loadStdioServer, PURPOSE } from './serve-pipes.ts';
import { serveInChildren } from './served-child.ts';

const common = { name: 'mcp/stdio', protocol: 'mcp', transport: 'stdio' } as const;

/** MCP over the pipes of a child, without any package at either end. */
export const mcpStdioBare: Stack = metered({
  ...common,
  implementation: 'bare',
  traits: mcpStdioTraits,
  serve: (inbox, settings) => serveInChildren('bare', inbox, settings),
  connect: async (address, settings) => BareMcpClient.connect(await stdioCaller(address), settings),
});

/** The same by MCP's own SDK, which starts the server twice: once to see which revisions it speaks. */
export const mcpStdioSdk: Stack = metered({
  ...common,
  implementation: 'sdk',
  traits: mcpStdioTraits,
  async serve(inbox, settings) {
    // What is missing is said here, not by a child.
    await loadStdioServer();
    return serveInChildren('sdk', inbox, settings);
  },
  async connect(address, settings) {
    const { StdioClientTransport } = await withPackage(
      '@modelcontextprotocol/client@2',
      PURPOSE,
      () => import('@modelcontextprotocol/client/stdio'),
    );
    const transport = new StdioClientTransport({
      ...commandSchema.parse(JSON.parse(address)),
      stderr: 'inherit',
    });
    return connectSdk(PURPOSE, transport, settings);
  },
});
