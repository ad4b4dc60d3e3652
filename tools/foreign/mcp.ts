import type { ToolServices } from '../tool-services.ts';
import { createForeignTool } from './foreign-tool.ts';
import { parseMcpOptions, readVariable } from './options.ts';

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
