import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { TOOL_LIST_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { isJsonList, isJsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { readUserText } from '@gaia-mesh/core/system/files/user-file.ts';
import { parseForeignUrl } from '@gaia-mesh/core/system/outgoing-url.ts';
import { keepForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import { isolateCommand } from '@gaia-mesh/core/system/process/without-network.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import {
  argument,
  defineTable,
  flag,
  option,
  text,
  texts,
  wholeNumber,
} from '@gaia-mesh/evaluation/plan/option-table.ts';
import { type Column, formatColumns } from '@gaia-mesh/evaluation/terminal/columns.ts';
import { printError, printJson, printText } from '@gaia-mesh/evaluation/terminal/print.ts';
import { count, toOneLine } from '@gaia-mesh/evaluation/terminal/table.ts';
import { importTraffic } from '@gaia-mesh/evaluation/traffic/import-traffic.ts';
import { connectForeign } from '@gaia-mesh/stacks/mcp/foreign/foreign-server.ts';
import { countModelTokens } from '@gaia-mesh/tools/engines/llama/launch-model.ts';
import { pickPlainVariables } from '@gaia-mesh/tools/foreign/mcp.ts';
import { readVariable } from '@gaia-mesh/tools/foreign/options.ts';
import { priceTools } from '@gaia-mesh/tools/foreign/tool-prices.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { EXIT } from '../command-line/exit-code.ts';
import { handleInterrupt } from '../command-line/interruptible.ts';
import { defineOptions } from '../command-line/options.ts';

const toolsTable = defineTable({
  options: z.object({
    server: argument('<server...>', 'connect to this URL or command, or read a file', z.array(z.string())),
    budget: option('<n>', 'exit with 1 above this many tokens', wholeNumber.optional()),
    model: option('<file>', 'count with the tokenizer of this GGUF file, too', text.optional()),
    token: option('<variable>', "read the server's token from this environment variable", text.optional()),
    env: option('<variable>', 'let the started server have this variable (repeatable)', texts.default([])),
    network: flag('let the started server use the network'),
    json: flag('print the tokens as one JSON value'),
  }),
});
type ToolsOptions = z.output<typeof toolsTable.options>;

const HELP = `
Servers:
  http://127.0.0.1:8080/mcp       a server with Streamable HTTP
  "node dist/server.js"           a command, which is started without a shell
  -- npx -y @scope/server         the same, in words; npx needs --network
  tools.json                      the result of tools/list, or a log of MCP that import reads

Tokens are those of the list as JSON, in o200k_base. With --model, the budget is held against the model's.
`;

/** Defines `tools`, which says what the tools of an MCP server cost in every prompt that offers them. */
export function defineTools(command: Command): void {
  defineOptions(command, toolsTable, run).addHelpText('after', HELP);
}

type Listed = Pick<Awaited<ReturnType<typeof connectForeign>>, 'name' | 'listed' | 'refused'>;
type Priced = Awaited<ReturnType<typeof priceTools>>;
type ToolPrice = Priced['tools'][number];

async function run(options: ToolsOptions): Promise<void> {
  const { signal } = handleInterrupt('the count');
  const { model, budget } = options;
  const { name, listed, refused } = await readTools(options, signal);
  const { o200k } = await import('@gaia-mesh/core/tokens/o200k.ts');
  const priced = await priceTools(listed, (all) => all.map((one) => o200k.count(one)));
  const byModel =
    model === undefined ? undefined : await priceTools(listed, (all) => countModelTokens(model, all, signal));
  const tokens = (byModel ?? priced).tokens;
  const isAbove = budget !== undefined && tokens > budget;
  if (options.json)
    printJson({
      server: name,
      encoding: 'o200k_base',
      ...priced,
      model: byModel === undefined ? null : { file: model, ...byModel },
      refused,
      budget: budget ?? null,
      above_budget: isAbove,
    });
  else printText(`${formatPrices(name, priced, byModel, refused).join('\n')}\n`);
  if (!isAbove) return;
  printError(`${count(tokens)} tokens are above the budget of ${count(budget)}`);
  process.exitCode = EXIT.failed;
}

/**
 * Lists the tools of a server, or reads a file of them.
 *
 * @throws MeshError `usage` for options without effect; what reading and connecting throw
 */
async function readTools(
  { server, token, env, network }: ToolsOptions,
  signal: AbortSignal,
): Promise<Listed> {
  const [first = '', ...rest] = server;
  const isAlone = rest.length === 0;
  const url = isAlone && /^https?:/i.test(first) ? parseForeignUrl(first) : undefined;
  if (isAlone && /^https?:/i.test(first) && url === undefined)
    throw new MeshError('usage', `${first}: expected a URL of http or https, without a user or password`);
  const isFile = isAlone && (/\.jsonl?(\.gz)?$/i.test(first) || isPlainFile(resolveUserPath(first)));
  if (token !== undefined && url === undefined)
    throw new MeshError(
      'usage',
      '--token: only a server at a URL takes one; name variables of a command with --env',
    );
  if ((network || env.length > 0) && (url !== undefined || isFile))
    throw new MeshError('usage', '--env and --network are for a server that is started by a command');
  if (isFile) return readToolFile(first);
  const maxMessageBytes = TOOL_LIST_BYTES;
  if (url !== undefined) {
    const value = token === undefined ? undefined : readVariable(token, process.env, 'tools');
    return listAndClose({ url: first, token: value, maxMessageBytes }, signal);
  }
  const [command = '', ...args] = isAlone ? splitWords(first) : server;
  if (command === '')
    throw new MeshError('usage', 'expected a URL, a command or a file of JSON, came an empty text');
  const named = env.map((name) => [name, readVariable(name, process.env, 'tools')]);
  const isolated = network ? { program: command, args } : isolateCommand(args, command);
  const environment = { ...pickPlainVariables(process.env), ...Object.fromEntries(named) };
  try {
    return await listAndClose(
      {
        command: isolated.program,
        args: isolated.args,
        environment,
        folder: resolveUserPath('.'),
        maxMessageBytes,
      },
      signal,
    );
  } catch (error) {
    const isMissing = /No such file|is not installed/.test(toErrorMessage(error));
    if (network || !(error instanceof MeshError) || isMissing) throw error;
    throw new MeshError(error.code, `${error.message} (it had no network; --network allows it)`, {
      cause: error,
    });
  }
}

/** Tells if `file` is a file that cannot be executed. */
function isPlainFile(file: string): boolean {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
  try {
    accessSync(file, constants.X_OK);
    return false;
  } catch {
    return true;
  }
}

async function listAndClose(
  endpoint: Parameters<typeof connectForeign>[0],
  signal: AbortSignal,
): Promise<Listed> {
  const server = await connectForeign(endpoint, signal);
  await server.close();
  return server;
}

/**
 * Splits a command into words as a shell does, but starts no shell: quotes keep words together.
 *
 * @throws MeshError `usage` for a quote that is not closed
 */
function splitWords(line: string): string[] {
  const words = line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  if (/["']/.test(line.replaceAll(/"[^"]*"|'[^']*'/g, '')))
    throw new MeshError('usage', `${line}: a quote is not closed`);
  return words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_all, one, two) => one ?? two));
}

/** Reads tools from a file: a plain list, a result or a response of `tools/list`, or a log of MCP. */
function readToolFile(file: string): Listed {
  const name = path.basename(file);
  const own = resolveUserPath(file);
  const content = readUserText(own, { what: 'list of tools', maxBytes: TOOL_LIST_BYTES });
  const listed = findToolList(content);
  if (listed !== undefined) return { name, listed, refused: [] };
  const { packets } = importTraffic(own, 'mcp').recording;
  const tools = packets
    .filter(({ packet }) => packet.type === 'tools/list.result')
    .flatMap(({ packet }) => (isJsonList(packet.payload.tools) ? packet.payload.tools : []));
  if (tools.length === 0)
    throw new MeshError('config', `${file}: expected the result of tools/list, or a log of MCP with one`);
  // Clients list the tools in each session again.
  const seen = new Map(tools.map((tool) => [JSON.stringify(tool), tool]));
  return { name, listed: [...seen.values()], refused: [] };
}

function findToolList(content: string): readonly unknown[] | undefined {
  let value: unknown;
  try {
    ({ value } = keepForeignJson(content));
  } catch {
    return undefined; // Lines of JSON, perhaps.
  }
  if (isJsonList(value)) return value.every(isTool) ? value : undefined;
  if (!isJsonObject(value)) return undefined;
  const { tools } = isJsonObject(value.result) ? value.result : value;
  return isJsonList(tools) ? tools : undefined;
}

const isTool = (value: unknown) =>
  isJsonObject(value) && typeof value.name === 'string' && value.jsonrpc === undefined;

interface Row extends ToolPrice {
  readonly modelTokens: number | undefined;
}

const columns: readonly Column<Row>[] = [
  { key: 'name', header: 'tool', value: ({ name }) => toOneLine(name, 40) },
  { key: 'tokens', header: 'tokens', value: ({ tokens }) => tokens },
  { key: 'name_tokens', header: 'name', value: (row) => row.name_tokens },
  { key: 'description_tokens', header: 'description', value: (row) => row.description_tokens },
  { key: 'schema_tokens', header: 'schema', value: (row) => row.schema_tokens },
  { key: 'other_tokens', header: 'other', value: (row) => row.other_tokens },
];
const modelColumn: Column<Row> = { key: 'model', header: 'model', value: ({ modelTokens }) => modelTokens };

function formatPrices(
  server: string,
  { tokens, tools, duplicates, savings }: Priced,
  byModel: Priced | undefined,
  refused: readonly string[],
): string[] {
  const rows = tools
    .map((tool, index): Row => ({ ...tool, modelTokens: byModel?.tools[index]?.tokens }))
    .sort((a, b) => b.tokens - a.tokens);
  const saved = savings.reduce((sum, saving) => sum + saving.tokens, 0);
  const inModel = byModel === undefined ? '' : `, ${count(byModel.tokens)} by the model's tokenizer`;
  const title = (words: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ['', words, ...lines];
  return [
    `${count(tools.length)} tool${tools.length === 1 ? '' : 's'} of ${toOneLine(server, 60)}: ${count(tokens)} tokens${inModel}`,
    '',
    formatColumns(byModel === undefined ? columns : [...columns, modelColumn], rows),
    ...title(
      'Repeated:',
      duplicates.map(
        ({ what, tools: { length }, tokens: more }) =>
          `  ${count(more).padStart(7)}  ${toOneLine(what, 60)}, in ${length} tools`,
      ),
    ),
    ...title(
      `A shorter list would save ${count(saved)} of ${count(tokens)} tokens:`,
      savings.map(({ change, tokens: less }) => `  ${count(less).padStart(7)}  ${change}`),
    ),
    ...title(
      'A team could not use:',
      refused.map((why) => `  ${toOneLine(why, 150)}`),
    ),
  ];
}
