import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { Usage } from '@gaia-mesh/core/contracts/usage.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { connectForeign } from '@gaia-mesh/stacks/mcp/foreign/foreign-server.ts';
import type { DataTool, DataToolContext } from '@gaia-mesh/tools/data-tool.ts';
import type { ForeignPeer } from '@gaia-mesh/tools/foreign/foreign.ts';
import { createMcpTool } from '@gaia-mesh/tools/foreign/mcp.ts';
import { afterEach, describe, expect, test } from 'vitest';

/** Servers of MCP from the registry, and hostile ones of our own, each in a process of its own. */

const open = new Set<ForeignPeer>();
afterEach(async () => {
  for (const peer of open) await peer.close();
  open.clear();
});

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const packageOf = (name: string) =>
  path.join(path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'dist', 'index.js');

/** Creates an agent with `options` that can be asked. */
function agent(options: JsonObject, environment: Readonly<Record<string, string>> = {}) {
  const usage: Usage[] = [];
  const workspace = realpathSync(temporaryFolder());
  const context: DataToolContext = {
    workspace,
    files: undefined,
    store: undefined,
    taskId: 't',
    options,
    environment: { PATH: process.env.PATH, ...environment },
    noteUsage: (entry) => usage.push(entry),
    traceparent: TRACEPARENT,
    signal: new AbortController().signal,
  };
  const tool: DataTool<JsonObject> = createMcpTool({
    async connectMcp(where, signal) {
      const peer = await connectForeign(where, signal);
      open.add(peer);
      return peer;
    },
  });
  return { workspace, usage, ask: (input: JsonObject) => tool.run(input, context) };
}

const server = (name: string, args: readonly string[] = [], more: JsonObject = {}) =>
  agent({ command: process.execPath, args: [packageOf(`@modelcontextprotocol/${name}`), ...args], ...more });

/** Writes a server for a test, which answers `initialize` and passes every other request to `body`. */
function made(body: string, more: JsonObject = {}) {
  const file = path.join(temporaryFolder(), 'server.mjs');
  writeFileSync(
    file,
    `import { createInterface } from 'node:readline';
const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
const tool = (name, more = {}) => ({ name, description: 'a tool', inputSchema: { type: 'object' }, ...more });
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const answer = (result) => say({ jsonrpc: '2.0', id, result });
  if (method === 'initialize')
    answer({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'made', version: '1' } });
  else if (id !== undefined) {${body}}
});`,
  );
  return agent({ command: process.execPath, args: [file], ...more });
}

test('a server is told the trace context of a call, in `_meta`', async () => {
  const { ask } = made(
    `method === 'tools/list' ? answer({ tools: [tool('look')] }) : answer({ content: [{ type: 'text', text: JSON.stringify(params._meta ?? null) }] })`,
  );
  const { text } = await ask({ tool: 'look', arguments: {} });
  expect(JSON.parse(text)).toMatchObject({ traceparent: TRACEPARENT });
});

describe('a server of MCP from the registry', () => {
  test('everything: its tools by their own schemas, texts, structured content and images', async () => {
    const { ask, workspace, usage } = server('server-everything');
    const offer = await ask({});
    expect(offer.data).toMatchObject({
      tools: expect.arrayContaining([
        expect.objectContaining({
          name: 'echo',
          parameters: expect.objectContaining({ required: ['message'] }),
        }),
      ]),
    });
    expect(usage).toEqual([]);
    expect((await ask({ tool: 'echo', arguments: { message: 'Hello' } })).text).toContain('Hello');
    const weather = await ask({ tool: 'get-structured-content', arguments: { location: 'New York' } });
    expect(weather.data).toMatchObject({ temperature: expect.any(Number) });
    const picture = await ask({ tool: 'get-tiny-image', arguments: {} });
    const file = /image (\w+\.png), \d+ bytes/.exec(picture.text)?.[1] ?? '';
    expect(
      readFileSync(path.join(workspace, 'images', file))
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    // The tokens that the server used are unknown, and never 0.
    expect(usage.at(-1)).toEqual({
      role: 'mcp',
      model: expect.stringContaining('unknown, of '),
      calls: 0,
      prompt_tokens: null,
      completion_tokens: null,
      cost_usd: null,
    });
    await expect(ask({ tool: 'no-such-tool', arguments: {} })).rejects.toThrow('it has no tool no-such-tool');
  });

  test('filesystem: reads what it was given, and says why not of what it was not', async () => {
    const folder = realpathSync(temporaryFolder());
    writeFileSync(path.join(folder, 'note.txt'), 'A short note.');
    const { ask, usage } = server('server-filesystem', [folder], { asks_models: false });
    const read = (file: string) => ask({ tool: 'read_text_file', arguments: { path: file } });
    expect((await read(path.join(folder, 'note.txt'))).text).toBe('A short note.');
    await expect(read('/etc/passwd')).rejects.toThrow(/denied/i);
    expect(usage).toEqual([]);
  });

  test('memory: keeps what it was told', async () => {
    const folder = realpathSync(temporaryFolder());
    const named = { command: process.execPath, args: [packageOf('@modelcontextprotocol/server-memory')] };
    const { ask } = agent(
      { ...named, env: ['MEMORY_FILE_PATH'] },
      { MEMORY_FILE_PATH: path.join(folder, 'memory.json') },
    );
    const entities = [{ name: 'Astel', entityType: 'lighthouse', observations: ['built in 1901'] }];
    await ask({ tool: 'create_entities', arguments: { entities } });
    const { text } = await ask({ tool: 'search_nodes', arguments: { query: 'Astel' } });
    expect(text).toContain('built in 1901');
    expect(readFileSync(path.join(folder, 'memory.json'), 'utf8')).toContain('Astel');
  });

  test('what the budget of tokens has no room for is there by name, or not at all', async () => {
    const few = await server('server-filesystem', [temporaryFolder()], { budget_tokens: 400 }).ask({});
    const { tools, deferred, refused } = Object(few.data);
    expect(tools.length).toBeGreaterThan(0);
    expect(deferred.length).toBeGreaterThan(0);
    const least = await server('server-filesystem', [temporaryFolder()], { budget_tokens: 100 }).ask({});
    expect([...refused, ...Object(least.data).refused].join()).toContain('beyond the budget of 100 tokens');
  });
});

describe('a hostile server of MCP', () => {
  test('has its tools refused that have no name, no schema, or come twice', async () => {
    const { ask } = made(`answer({ tools: [
      tool('good'), tool('good'), tool('<script>'), tool('flat', { inputSchema: { type: 'string' } }),
      tool('large', { inputSchema: { type: 'object', description: 'x'.repeat(100_000) } }) ] });`);
    const { tools, refused } = Object((await ask({})).data);
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(['good']);
    expect(refused).toHaveLength(4);
    expect(refused.join('\n')).toMatch(/comes twice.*script.*flat.*large: its schema has/s);
  });

  test('gets no variable of the environment but those that the team file names', async () => {
    const { ask } = made(
      `answer(method === 'tools/list' ? { tools: [tool('env')] }
        : { content: [{ type: 'text', text: JSON.stringify(Object.keys(process.env)) }] });`,
    );
    process.env.TEST_SECRET_OF_OURS = 'secret';
    const { text } = await ask({ tool: 'env', arguments: {} });
    delete process.env.TEST_SECRET_OF_OURS;
    expect(JSON.parse(text)).not.toContain('TEST_SECRET_OF_OURS');
    expect(JSON.parse(text)).toContain('PATH');
  });

  test('is cut off at a message that is too large, and at its time', async () => {
    const large = made(
      `answer(method === 'tools/list' ? { tools: [tool('t')] } : { content: [{ type: 'text', text: 'x'.repeat(100_000) }] });`,
      { max_bytes: 10_000 },
    );
    await expect(large.ask({ tool: 't', arguments: {} })).rejects.toThrow();
    const slow = made(`if (method === 'tools/list') answer({ tools: [tool('t')] });`, { timeout_s: 0.3 });
    await expect(slow.ask({ tool: 't', arguments: {} })).rejects.toThrow(/timed out/i);
  });

  test('is started again when it dies, and not without end', async () => {
    const { ask } = made(
      `if (method === 'tools/list') answer({ tools: [tool('t')] }); else process.exit(1);`,
    );
    const messages: string[] = [];
    for (let count = 0; count < 6; count++)
      await ask({ tool: 't', arguments: {} }).catch((error: Error) => messages.push(error.message));
    expect(messages).toHaveLength(6);
    expect(messages.at(-1)).toBe('the connection was lost 4 times, and is not made again');
  });

  test('ends, although it left a process behind that holds its output', async () => {
    const { ask } = made(
      `import('node:child_process').then(({ spawn }) => {
         spawn('sleep', ['60'], { detached: true, stdio: 'inherit' }).unref();
         answer(method === 'tools/list' ? { tools: [tool('say')] } : { content: [{ type: 'text', text: 'said' }] });
       });`,
    );
    expect((await ask({ tool: 'say', arguments: {} })).text).toContain('said');
    for (const peer of open) await peer.close();
  });

  test('that is none is told with its last words', async () => {
    const file = path.join(temporaryFolder(), 'server.mjs');
    writeFileSync(file, `console.error('no licence found'); process.exit(3);`);
    await expect(agent({ command: process.execPath, args: [file] }).ask({})).rejects.toThrow(
      'no licence found',
    );
    await expect(agent({ command: '/no/such/program' }).ask({})).rejects.toThrow('No such file');
    await expect(agent({ command: 'x', colour: 'red' }).ask({})).rejects.toThrow('colour');
  });
});
