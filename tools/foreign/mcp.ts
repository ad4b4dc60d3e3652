import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { ToolServices } from '../tool-services.ts';
import { commonOptions, foreignUrl, parseForeignOptions, readVariable, variableName } from './foreign.ts';
import { createForeignTool } from './foreign-tool.ts';

/** Seconds for the start of the server, its handshake and the list of its tools. */
const start_s = z.number().positive().max(600).exactOptional();

const childOptions = z.strictObject({
  ...commonOptions,
  start_s,
  /** A program; `args` are passed to it as they are, without a shell. */
  command: z.string().min(1),
  args: z.array(z.string()).max(100).default([]),
  /** Variables that it gets besides the plain ones, such as PATH. */
  env: z.array(variableName).max(50).default([]),
  /** Allows it to use the network. */
  network: z.boolean().default(false),
});
const urlOptions = z.strictObject({
  ...commonOptions,
  start_s,
  url: foreignUrl,
  /** The environment variable that holds its token. */
  token: variableName.exactOptional(),
});

/** @throws MeshError `config` */
export function parseMcpOptions(
  options: JsonObject,
): z.infer<typeof childOptions> | z.infer<typeof urlOptions> {
  return 'url' in options
    ? parseForeignOptions(urlOptions, options, 'mcp')
    : parseForeignOptions(childOptions, options, 'mcp');
}

/** Creates the tool for an MCP server: agents that may call this agent are offered the server's tools. */
export const createMcpTool = ({ connectMcp }: Pick<ToolServices, 'connectMcp'>) =>
  createForeignTool({
    name: 'mcp',
    description: 'Hands calls on to a server of MCP, which the team file names',
    settings: parseMcpOptions,
    connect({ options, environment, workspace, signal }) {
      const own = parseMcpOptions(options);
      const startMs = own.start_s === undefined ? undefined : own.start_s * 1000;
      if ('url' in own) {
        const token = own.token === undefined ? undefined : readVariable(own.token, environment, 'mcp');
        return connectMcp({ url: own.url, token, maxMessageBytes: own.max_bytes, startMs }, signal);
      }
      const named = own.env.map((name) => [name, readVariable(name, environment, 'mcp')] as const);
      return connectMcp(
        {
          command: own.command,
          args: own.args,
          environment: { ...pickPlainVariables(environment), ...Object.fromEntries(named) },
          folder: workspace,
          maxMessageBytes: own.max_bytes,
          startMs,
        },
        signal,
      );
    },
  });

const PLAIN = /^(PATH|HOME|USER|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR)$/;

/** Returns the variables that any program may need; none of them is a key. */
export function pickPlainVariables(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      PLAIN.test(name) && value !== undefined ? [[name, value]] : [],
    ),
  );
}
