import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { ToolServices } from '../tool-services.ts';
import { commonOptions, foreignUrl, parseForeignOptions, readVariable, variableName } from './foreign.ts';
import { createForeignTool } from './foreign-tool.ts';

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
export function parseMcpOptions(options: JsonObject): z.infer<typeof ofChild> | z.infer<typeof ofUrl> {
  return 'url' in options
    ? parseForeignOptions(ofUrl, options, 'mcp')
    : parseForeignOptions(ofChild, options, 'mcp');
}

/** A server of MCP as a tool: its tools are offered to those who may ask this agent. */
export const createMcpTool = ({ connectMcp }: Pick<ToolServices, 'connectMcp'>) =>
  createForeignTool({
    name: 'mcp',
    description: 'Hands calls on to a server of MCP, which the team file names',
    settings: parseMcpOptions,
    connect({ options, environment, workspace, signal }) {
      const own = parseMcpOptions(options);
      if ('url' in own) {
        const token = own.token === undefined ? undefined : readVariable(own.token, environment, 'mcp');
        return connectMcp({ url: own.url, token, maxMessageBytes: own.max_bytes }, signal);
      }
      const named = own.env.map((name) => [name, readVariable(name, environment, 'mcp')] as const);
      return connectMcp(
        {
          command: own.command,
          args: own.args,
          environment: { ...pickPlainVariables(environment), ...Object.fromEntries(named) },
          folder: workspace,
          maxMessageBytes: own.max_bytes,
        },
        signal,
      );
    },
  });

const PLAIN = /^(PATH|HOME|USER|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR)$/;

/** What any program may need; no key is among them. */
function pickPlainVariables(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      PLAIN.test(name) && value !== undefined ? [[name, value]] : [],
    ),
  );
}
