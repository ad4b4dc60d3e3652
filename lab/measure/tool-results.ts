import { execFile } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { defineOptions } from '@gaia-mesh/cli/command-line/options.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { findCacheFolder } from '@gaia-mesh/core/system/platform.ts';
import { defineTable, flag } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { type Column, formatColumns, formatColumnsMarkdown } from '@gaia-mesh/evaluation/terminal/columns.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { formatPercent } from '@gaia-mesh/evaluation/terminal/table.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { useRunFolder } from './bench-runs.ts';
import { createPublisher } from './publish.ts';

const table = defineTable({
  options: z.object({
    json: flag('print the results as one JSON value'),
    write: flag('write docs/results/tools.md'),
  }),
});

/** Counts the tokens of the tools of public servers, which are installed from npm and PyPI into a folder of their own. */
export function defineToolResults(command: Command): void {
  defineOptions(command, table, run);
}

interface PublicServer {
  readonly from: 'npm' | 'PyPI';
  readonly name: string;
  /** The command that its package installs, with the arguments without which it does not start. */
  readonly command: string;
}

/** Servers of files, time, browsers and memory that start without a key and without a network. */
const SERVERS: readonly PublicServer[] = [
  { from: 'npm', name: '@modelcontextprotocol/server-everything', command: 'mcp-server-everything' },
  { from: 'npm', name: '@modelcontextprotocol/server-filesystem', command: 'mcp-server-filesystem .' },
  { from: 'npm', name: '@modelcontextprotocol/server-memory', command: 'mcp-server-memory' },
  { from: 'npm', name: '@playwright/mcp', command: 'playwright-mcp' },
  { from: 'npm', name: 'chrome-devtools-mcp', command: 'chrome-devtools-mcp' },
  { from: 'PyPI', name: 'mcp-server-time', command: 'mcp-server-time' },
  { from: 'PyPI', name: 'mcp-server-git', command: 'mcp-server-git' },
  { from: 'PyPI', name: 'mcp-server-fetch', command: 'mcp-server-fetch' },
  { from: 'PyPI', name: 'duckduckgo-mcp-server', command: 'duckduckgo-mcp-server' },
  { from: 'PyPI', name: 'excel-mcp-server', command: 'excel-mcp-server stdio' },
];

const pricedSchema = z.object({
  tokens: z.number(),
  tools: z.array(z.object({ description_tokens: z.number(), other_tokens: z.number() })),
  savings: z.array(z.object({ tokens: z.number() })),
  model: z.object({ tokens: z.number() }).nullable(),
});
type Row = PublicServer & { readonly version: string; readonly priced: z.infer<typeof pricedSchema> };

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
const share = (part: number, { priced }: Row) => formatPercent(part / priced.tokens);

const columns: readonly Column<Row>[] = [
  { key: 'server', header: 'server', value: ({ name }) => name },
  { key: 'from', header: 'from', value: ({ from }) => from },
  { key: 'version', header: 'version', value: ({ version }) => version },
  { key: 'tools', header: 'tools', value: ({ priced }) => priced.tools.length },
  { key: 'tokens', header: 'tokens, o200k', value: ({ priced }) => priced.tokens },
  { key: 'model', header: 'tokens, SmolLM2', value: ({ priced }) => priced.model?.tokens },
  {
    key: 'descriptions',
    header: 'descriptions',
    value: (row) => share(sum(row.priced.tools.map((tool) => tool.description_tokens)), row),
  },
  {
    key: 'other',
    header: 'beside name, description, schema',
    value: (row) => share(sum(row.priced.tools.map((tool) => tool.other_tokens)), row),
  },
  {
    key: 'savings',
    header: 'a shorter list saves',
    value: (row) => share(sum(row.priced.savings.map(({ tokens }) => tokens)), row),
  },
];

async function run(options: z.output<typeof table.options>): Promise<void> {
  const publish = createPublisher('docs/results/tools.md', options);
  const own = path.join(findCacheFolder(), 'models', 'SmolLM2-135M-Instruct.Q4_1.gguf');
  const model = existsSync(own) ? own : undefined;
  const rows = await useRunFolder(async (made, signal) => {
    const folder = realpathSync(made);
    const start = (program: string, args: readonly string[], cwd = folder) =>
      promisify(execFile)(program, args, { cwd, signal, maxBuffer: 64 * 1024 * 1024 });
    const name = ({ name: own }: PublicServer) => own;
    const [npm, pypi] = ['npm', 'PyPI'].map((from) =>
      SERVERS.filter((server) => server.from === from).map(name),
    );
    printError('installing the servers');
    writeFileSync(path.join(folder, 'package.json'), '{"private":true}\n');
    await start('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...(npm ?? [])]);
    await start('python3', ['-m', 'venv', 'python']);
    const bin = path.join(folder, 'python', 'bin');
    await start(path.join(bin, 'pip'), ['install', '--quiet', ...(pypi ?? [])]);
    const measured: Row[] = [];
    for (const server of SERVERS) {
      printError(server.name);
      const [program = '', ...args] = server.command.split(' ');
      const place = server.from === 'npm' ? path.join(folder, 'node_modules', '.bin') : bin;
      const { stdout } = await start(process.execPath, [
        ...[path.join(codeFolder, 'scripts', 'gaia-mesh.js'), 'tools', '--json'],
        ...(model === undefined ? [] : ['--model', model]),
        ...['--', path.join(place, program), ...args],
      ]);
      const version =
        server.from === 'npm' ? readVersion(folder, server.name) : await askVersion(start, bin, server.name);
      measured.push({ ...server, version, priced: pricedSchema.parse(JSON.parse(stdout)) });
    }
    return measured;
  });
  await publish({
    report: { rows },
    text: formatColumns(columns, rows),
    part: {
      facts: 'the newest versions of that day, started without a key and without a network',
      body: formatColumnsMarkdown(columns, rows),
      limits: [
        'Clients change lists before they show them to a model: most leave out what is beside name, description and schema, and each model has a format of its own.',
        'Ten servers are no sample of all: they are those that start without a key.',
      ],
    },
  });
}

const manifestSchema = z.object({ version: z.string() });

function readVersion(folder: string, name: string): string {
  const file = path.join(folder, 'node_modules', name, 'package.json');
  return manifestSchema.parse(JSON.parse(readFileSync(file, 'utf8'))).version;
}

async function askVersion(
  start: (program: string, args: readonly string[]) => Promise<{ stdout: string }>,
  bin: string,
  name: string,
): Promise<string> {
  const { stdout } = await start(path.join(bin, 'pip'), ['show', name]);
  return /^Version: (.+)$/m.exec(stdout)?.[1] ?? 'unknown';
}
