import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { ToolServices } from '../tool-services.ts';
import { commonOptions, foreignOptions, foreignUrl, variableName, variableNamed } from './foreign.ts';
import { foreignTool } from './foreign-tool.ts';

const ofChild = z.strictObject({
  ...commonOptions,
  /** A program; `args` are handed to it as they are, by no shell. */
  command: z.string().min(1),
  args: z.array(z.string()).max(100).default([]),
  /** Variables that it gets beside the plain ones, such as PATH. */
  env: z.array(variableName).max(50).default([]),
  /** Whether it may use the network. */
  network: z.boolean().default(false),
});
const ofUrl = z.strictObject({
  ...commonOptions,
  url: foreignUrl,
  /** The variable with the token that it wants. */
  token: variableName.exactOptional(),
});

/** @throws MeshError `config` */
export function mcpOptions(options: JsonObject): z.infer<typeof ofChild> | z.infer<typeof ofUrl> {
  return 'url' in options ? foreignOptions(ofUrl, options, 'mcp') : foreignOptions(ofChild, options, 'mcp');
}

/** A server of MCP as a tool: its tools are offered to those who may ask this agent. */
export const mcp = ({ connectMcp }: Pick<ToolServices, 'connectMcp'>) =>
  foreignTool({
    name: 'mcp',
    description: 'Hands calls on to a server of MCP, which the team file names',
    settings: mcpOptions,
    connect({ options, environment, workspace, signal }) {
      const own = mcpOptions(options);
      if ('url' in own) {
        const token = own.token === undefined ? undefined : variableNamed(own.token, environment, 'mcp');
        return connectMcp({ url: own.url, token, maxMessageBytes: own.max_bytes }, signal);
      }
      const named = own.env.map((name) => [name, variableNamed(name, environment, 'mcp')] as const);
      return connectMcp(
        {
          command: own.command,
          args: own.args,
          environment: { ...plainOf(environment), ...Object.fromEntries(named) },
          folder: workspace,
          maxMessageBytes: own.max_bytes,
        },
        signal,
      );
    },
  });

const PLAIN = /^(PATH|HOME|USER|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR)$/;

/** What any program may need; no key is among them. */
function plainOf(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      PLAIN.test(name) && value !== undefined ? [[name, value]] : [],
    ),
  );
}
