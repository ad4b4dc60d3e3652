import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { hasNamespaces } from '@gaia-mesh/core/system/process/without-network.ts';
import { bareMcpServer } from '@gaia-mesh/stacks/testing/mcp-servers.ts';
import { describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { temporaryFolder } from '../../testing/cli.ts';

const search = {
  name: 'search',
  description: 'Searches the papers',
  inputSchema: {
    type: 'object',
    title: 'SearchArguments',
    properties: {
      query: {
        type: 'string',
        title: 'Query',
        description: 'What to look for: words that stand in the text itself',
      },
      year: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null, title: 'Year' },
    },
    required: ['query'],
    additionalProperties: false,
  },
};
const count = { ...search, name: 'count', outputSchema: { type: 'object', properties: {} } };

function write(name: string, text: string): string {
  const file = path.join(temporaryFolder(), name);
  writeFileSync(file, text);
  return file;
}

async function price(...args: string[]) {
  const { code, stdout, stderr } = await callCli(['tools', ...args, '--json']);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

describe('the tokens of tools', () => {
  const results = path.join(codeFolder, '..', 'shared', 'data', 'mcp-tools', 'results');
  const isThere = existsSync(results);
  if (!isThere) console.warn('skipped: ../shared/data/mcp-tools has the lists of public servers');

  test.skipIf(!isThere)('of public servers are those that mcp-context-cost counted', async () => {
    const servers = readdirSync(results, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    let counted = 0;
    // The lists are alike: a fifth of them is counted again.
    for (const { name } of servers.filter((_, index) => index % 5 === 0)) {
      const file = path.join(results, name, 'measurement.json');
      const measured = JSON.parse(readFileSync(file, 'utf8'));
      if (!Array.isArray(measured.rawToolsCapture) || measured.totalTokens === null) continue;
      const priced = await price(write('tools.json', JSON.stringify(measured.rawToolsCapture)));
      expect(priced.tokens, name).toBe(measured.totalTokens);
      expect(
        priced.tools.map((tool: Record<string, unknown>) => ({
          name: tool.name,
          tokens: tool.tokens,
          descriptionTokens: tool.description_tokens,
          inputSchemaTokens: tool.schema_tokens,
        })),
        name,
      ).toEqual(measured.tools);
      counted += 1;
    }
    expect(counted).toBeGreaterThan(10);
  });

  test('are the same from a list, a result, a response, and a log', async () => {
    const tools = [search, count];
    const response = { jsonrpc: '2.0', id: 1, result: { tools } };
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const { tokens } = await price(write('list.json', JSON.stringify(tools)));
    expect(tokens).toBeGreaterThan(100);
    const forms = [JSON.stringify({ tools }), JSON.stringify(response, null, 2)];
    for (const form of forms) expect(await price(write('form.json', form))).toMatchObject({ tokens });
    // The second session of the log lists the same tools again.
    const log = [request, response, request, response].map((line) => JSON.stringify(line)).join('\n');
    expect(await price(write('log.jsonl', log))).toMatchObject({ tokens });
  });

  test('say what is repeated, and what a shorter list would save', async () => {
    const file = write('list.json', JSON.stringify([search, search, count]));
    const priced = await price(file);
    expect(
      priced.duplicates.map(({ what, tools }: { what: string; tools: string[] }) => [what, tools]),
    ).toEqual([
      ['the property query', ['search', 'search', 'count']],
      ['the property year', ['search', 'search', 'count']],
      ['the name search', ['search', 'search']],
    ]);
    const changes = priced.savings.map(({ change }: { change: string }) => change);
    expect(changes).toEqual([
      expect.stringContaining('outputSchema'),
      expect.stringContaining('titles'),
      'leave out additionalProperties: false',
      expect.stringContaining('instead of null'),
    ]);
    const { stdout } = await callCli(['tools', file]);
    expect(stdout).toMatch(/^3 tools of list\.json: [\d,]+ tokens\n/);
    expect(stdout).toMatch(/\n {7}\d\d {2}the property query, in 3 tools\n/);
  });

  test('of a shorter list are what the list without those parts takes', async () => {
    const shorter = {
      name: 'count',
      description: 'Searches the papers',
      inputSchema: {
        type: 'object',
        properties: {
          query: { type: 'string', description: 'What to look for: words that stand in the text itself' },
          year: { type: 'integer' },
        },
        required: ['query'],
      },
    };
    const long = await price(write('long.json', JSON.stringify([count])));
    const short = await price(write('short.json', JSON.stringify([shorter])));
    const saved = long.savings.reduce((sum: number, { tokens }: { tokens: number }) => sum + tokens, 0);
    expect(long.tokens - saved).toBe(short.tokens);
    expect(short.savings).toEqual([]);
  });
});

describe('a server', () => {
  test('at a URL is asked for its tools, and a budget decides about the exit code', async () => {
    const { url, close } = await bareMcpServer();
    try {
      const { tokens } = await price(url);
      expect(await callCli(['tools', url, '--budget', String(tokens)])).toMatchObject({ code: 0 });
      expect(await callCli(['tools', url, '--budget', String(tokens - 1)])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('are above the budget of'),
      });
    } finally {
      await close();
    }
  });

  /** A server that says in its name which words it got, and whether it reaches the port in the last of them. */
  const made = `import { createInterface } from 'node:readline';
import { connect } from 'node:net';
const words = process.argv.slice(2);
const reach = () => new Promise((resolve) => {
  const socket = connect(Number(words.at(-1)), '127.0.0.1');
  socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
}).catch(() => false);
const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize')
    say(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: words.slice(0, -1).join('|') + ' ' + await reach(), version: '1' } });
  else if (method === 'tools/list')
    say(id, { tools: Object.keys(process.env).filter((name) => name.includes('KEY')).map((name) => ({ name, inputSchema: { type: 'object' } })) });
});
setTimeout(() => process.exit(), 20_000).unref();`;

  test('that a command starts gets what is named: words, variables and the network', async () => {
    const file = write('server.mjs', made);
    const listening = net.createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(listening, 'listening');
    const { port } = listening.address() as net.AddressInfo;
    const env = { OWN_KEY: 'a', OTHER_KEY: 'b' };
    const ask = async (...args: string[]) => {
      const { code, stdout, stderr } = await callCli(['tools', '--json', ...args], { env });
      expect(code, stderr).toBe(0);
      return JSON.parse(stdout);
    };
    const line = `"${process.execPath}" ${file} 'two words' three ${port}`;
    const reaches = !hasNamespaces();
    expect(await ask(line, '--env', 'OWN_KEY')).toMatchObject({
      server: `two words|three ${reaches}`,
      tools: [{ name: 'OWN_KEY' }],
    });
    const words = ['--', process.execPath, file, '-x', String(port)];
    expect(await ask('--network', ...words)).toMatchObject({ server: '-x true', tools: [] });
    listening.close();
  });

  test('that is not there is named', async () => {
    const { code, stderr } = await callCli(['tools', 'gaia-mesh-no-such-command']);
    expect(code).not.toBe(0);
    expect(stderr).toContain('gaia-mesh-no-such-command');
    expect(stderr).not.toContain('--network');
  });

  test.each([
    [['node server.js "a'], 'a quote is not closed'],
    [['http://user:secret@127.0.0.1/mcp'], 'without a user or password'],
    [['http://127.0.0.1/mcp', '--network'], 'for a server that is started by a command'],
    [['node', '--token', 'X'], 'only a server at a URL takes one'],
    [['missing.json'], 'there is no such file'],
    [[write('list.txt', 'look')], 'expected JSON or JSON lines'],
  ])('named by %j is refused with what would do', async (args, why) => {
    const { code, stderr } = await callCli(['tools', ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(why);
  });

  test('that does not listen is named, with the reason', async () => {
    const { code, stderr } = await callCli(['tools', 'http://127.0.0.1:65535/mcp']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/http:\/\/127\.0\.0\.1:65535\/mcp: fetch failed: connect ECONNREFUSED/);
  });

  test('cannot have its list read without end', async () => {
    const long = { name: 'long', inputSchema: { type: 'object', description: 'x'.repeat(8 * 1024 * 1024) } };
    const file = write('long.json', JSON.stringify([long]));
    expect(await callCli(['tools', file])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('larger than'),
    });
    const deep = `${'{"properties":{"a":'.repeat(200)}{}${'}}'.repeat(200)}`;
    const nested = write('deep.json', `[{"name":"deep","inputSchema":${deep}}]`);
    expect((await callCli(['tools', nested])).stderr).not.toContain('at ');
  });
});
