import { withPackage } from '../../../../core/system/optional-package.ts';
import type { Binding } from '../../contract/binding.ts';
import { metered } from '../../meter/metered.ts';
import { BareMcpClient } from '../bare/client.ts';
import { SdkMcpClient } from '../sdk/client.ts';
import { loadServer } from '../sdk/sdk.ts';
import { sdkServer } from '../sdk/server.ts';
import { McpServer } from '../server/mcp-server.ts';
import { packetTool } from '../tools.ts';
import { mcpStdioTraits } from '../traits.ts';
import { commandSchema, stdioCaller } from './bare-caller.ts';
import { serveStdio } from './bare-server.ts';
import { listenForPipes } from './relay.ts';

const common = { name: 'mcp/stdio', protocol: 'mcp', transport: 'stdio' } as const;
const PURPOSE = 'the binding mcp/stdio';
const SERVER = '@modelcontextprotocol/server';
const CLIENT = '@modelcontextprotocol/client';

/** What the SDK's reader holds of a line that has no end yet. */
const SDK_LINE_BYTES = 10 * 1024 * 1024;

/** MCP over the pipes of a child, without any package at either end. */
export const mcpStdioBare: Binding = metered({
  ...common,
  implementation: 'bare',
  packages: [],
  traits: mcpStdioTraits,
  serve(inbox, settings, meter) {
    const mcp = new McpServer({ tools: [packetTool(inbox, settings)] });
    return listenForPipes(meter, (pipes) => void serveStdio(mcp, pipes));
  },
  connect: async (address, settings) => BareMcpClient.connect(await stdioCaller(address), settings),
});

/** The same by MCP's own SDK, which starts the server twice: once to see which revisions it speaks. */
export const mcpStdioSdk: Binding = metered({
  ...common,
  implementation: 'sdk',
  packages: [CLIENT, SERVER],
  traits: mcpStdioTraits,
  async serve(inbox, settings, meter) {
    const sdk = await loadServer(PURPOSE);
    const stdio = await withPackage(
      `${SERVER}@2`,
      PURPOSE,
      () => import('@modelcontextprotocol/server/stdio'),
    );
    const tools = [packetTool(inbox, settings)];
    return listenForPipes(meter, (pipes) => {
      const transport = new stdio.StdioServerTransport(pipes, pipes, { maxBufferSize: SDK_LINE_BYTES });
      stdio.serveStdio(() => sdkServer(sdk, tools), { legacy: 'reject', transport });
    });
  },
  async connect(address, settings) {
    const { StdioClientTransport } = await withPackage(
      `${CLIENT}@2`,
      PURPOSE,
      () => import('@modelcontextprotocol/client/stdio'),
    );
    const transport = new StdioClientTransport({
      ...commandSchema.parse(JSON.parse(address)),
      stderr: 'inherit',
    });
    return SdkMcpClient.connect(PURPOSE, transport, settings);
  },
});
