import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { MCP_REVISION } from '@gaia-mesh/stacks/mcp/revision.ts';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { entry, jsonLines, runCli, takePort, temporaryFolder } from '../../testing/cli.ts';
import { endServe, post, type Served, startServe } from '../../testing/served.ts';
import { teamFile } from '../../testing/team-file.ts';

const waiter = path.join(codeFolder, 'scripts', 'testing', 'waiter-tool.ts');
/** One agent, whose tool does what the question says. */
const team = () => teamFile({ final: 0, agents: [{ id: 0, tool: waiter }] });

const info = { name: 'test', version: '1' };
const structured = (result: object) => ('structuredContent' in result ? result.structuredContent : undefined);

describe('a team that is served', () => {
  let served: Served;
  beforeAll(async () => {
    served = await startServe([
      '--team',
      team(),
      '--concurrency',
      '1',
      '--waiting',
      '1',
      '--max-bytes',
      '2000',
    ]);
  });
  afterAll(() => endServe(served));

  async function mcpClient(options = {}): Promise<Client> {
    const client = new Client(info, options);
    const headers = { Authorization: `Bearer ${served.token}` };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(served.mcp ?? ''), { requestInit: { headers } }),
    );
    return client;
  }

  test.each([
    ['2025-11-25', {}],
    [MCP_REVISION, { versionNegotiation: { mode: { pin: MCP_REVISION } } }],
  ])(
    'answers clients of MCP %s with a structured result, and says how it goes on',
    async (_revision, options) => {
      const client = await mcpClient(options);
      const told: unknown[] = [];
      const result = await client.callTool(
        { name: 'ask', arguments: { question: 'Hello' } },
        { onprogress: ({ progress, message }) => told.push([progress, message]) },
      );
      await client.close();

      expect(result.isError).toBeUndefined();
      expect(result.content).toEqual([{ type: 'text', text: 'You said: Hello' }]);
      expect(structured(result)).toMatchObject({ answer: 'You said: Hello', status: 'answered', packets: 2 });
      expect(told).toContainEqual([1, 'agent 0 sent heard (packet 1)']);
    },
  );

  test.each([
    ['2025-11-25', {}],
    [MCP_REVISION, { versionNegotiation: { mode: { pin: MCP_REVISION } } }],
  ])('ends the work for a client of MCP %s that cancels its call', async (_revision, options) => {
    const client = await mcpClient(options);
    const abort = new AbortController();
    const before = jsonLines(path.join(served.out, 'results.jsonl')).length;
    // The log is a little behind.
    await vi.waitFor(() => expect(tasksOf(served)).toBe(before), { timeout: 60_000 });
    const call = client.callTool({ name: 'ask', arguments: { question: 'wait' } }, { signal: abort.signal });
    const rejected = expect(call).rejects.toThrow();
    await vi.waitFor(() => expect(tasksOf(served)).toBe(before + 1), { timeout: 60_000 });
    abort.abort();
    await rejected;

    // It is not the deadline that ends it: that is two minutes away.
    await vi.waitFor(
      () => {
        const results = jsonLines(path.join(served.out, 'results.jsonl')).slice(before);
        expect(results).toMatchObject([{ status: 'failed', reason: 'interrupted' }]);
      },
      { timeout: 60_000 },
    );
    // Who closes before may take the word of it along.
    await client.close();
  });

  test('answers the command line of the MCP Inspector', async () => {
    const inspector = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json');
    const args = [
      ...[
        path.join(path.dirname(inspector), 'clients', 'launcher', 'build', 'index.js'),
        '--cli',
        served.mcp ?? '',
      ],
      ...['--transport', 'http', '--header', `Authorization: Bearer ${served.token}`],
      ...['--method', 'tools/call', '--tool-name', 'ask', '--tool-arg', 'question=Who is there?'],
    ];
    const { stdout } = await promisify(execFile)(process.execPath, args);

    expect(JSON.parse(stdout)).toMatchObject({ structuredContent: { answer: 'You said: Who is there?' } });
  });

  test('says what is wrong with a question, and what went wrong with a task, in words', async () => {
    const client = await mcpClient();
    const ask = (args: Record<string, unknown>) => client.callTool({ name: 'ask', arguments: args });

    expect(await ask({})).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('question') }],
    });
    expect(await ask({ question: 'x', document: 'y'.repeat(2000) })).toMatchObject({
      isError: true,
      content: [{ text: 'question and document: expected at most 2000 bytes, came 2001' }],
    });
    expect(await ask({ question: 'fail' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('it was asked to') }],
    });
    await client.close();
  });

  test('refuses one task more than it takes, and takes it when there is room again', async () => {
    const client = await mcpClient();
    const abort = new AbortController();
    const ask = (question: string) =>
      client.callTool({ name: 'ask', arguments: { question } }, { signal: abort.signal });
    const waiting = Promise.allSettled([ask('wait A'), ask('wait B')]);
    const refusal = await vi.waitFor(
      async () => {
        const result = await ask('C');
        expect(result).toMatchObject({ isError: true });
        return result;
      },
      { timeout: 60_000 },
    );
    expect(refusal.content).toEqual([
      { type: 'text', text: expect.stringContaining('the team is busy: 1 tasks') },
    ]);
    abort.abort();
    await waiting;

    await vi.waitFor(
      async () => {
        const result = await client.callTool({ name: 'ask', arguments: { question: 'D' } });
        expect(structured(result)).toMatchObject({ answer: 'You said: D' });
      },
      { timeout: 60_000 },
    );
    await client.close();
  });

  test('tells nobody anything but its card who does not know the token', async () => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    for (const token of [null, 'a wrong one']) {
      for (const url of [served.mcp ?? '', `${served.url}/a2a/jsonrpc`])
        expect(await post(url, token, ping)).toMatchObject({ status: 401 });
    }
    const card = await fetch(served.card ?? '');
    expect(await card.json()).toMatchObject({
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    });
    expect(await post(served.mcp ?? '', served.token, ping)).toMatchObject({ status: 200 });
  });

  test('refuses pages of other sites, and bodies that are too large', async () => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const page = { Origin: 'https://evil.example' };
    expect(await post(served.mcp ?? '', served.token, ping, page)).toMatchObject({ status: 403 });
    const large = await post(served.mcp ?? '', served.token, 'x'.repeat(100_000));
    expect(large).toMatchObject({ status: 413, json: { error: 'expected at most 77536 bytes' } });
    expect(await post(`${served.url}/else`, served.token, ping)).toMatchObject({ status: 404 });
  });
});

/** Tasks that its agent has heard of. */
function tasksOf({ out }: Served): number {
  const lines = jsonLines(path.join(out, 'workspaces', '0', 'agent.log'));
  return lines.filter(({ dir, type }) => dir === 'received' && type === 'doc_init').length;
}

test('serves over the pipes of whoever starts it, and ends with them', async () => {
  const out = temporaryFolder();
  const client = new Client(info);
  const args = [entry, 'serve', '--mcp', 'stdio', '--team', team(), '--port-base', 'auto', '--out', out];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
  const { tools } = await client.listTools();
  const result = await client.callTool({ name: 'ask', arguments: { question: 'Hello' } });
  await client.close();

  expect(tools.map(({ name }) => name)).toEqual(['ask']);
  expect(structured(result)).toMatchObject({ answer: 'You said: Hello' });
  await vi.waitFor(() => expect(existsSync(path.join(out, 'metrics.json'))).toBe(true), { timeout: 60_000 });
  const metrics = JSON.parse(readFileSync(path.join(out, 'metrics.json'), 'utf8'));
  expect(metrics).toMatchObject({ tasks: 1, answered: 1 });
});

test('Ctrl-C ends what is under way, writes the results and ends with 0', async () => {
  const served = await startServe(['--team', team()]);
  const call = post(served.mcp ?? '', served.token, {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'ask', arguments: { question: 'wait' } },
  });
  await vi.waitFor(() => expect(tasksOf(served)).toBe(1), { timeout: 60_000 });
  const { code } = await endServe(served);

  expect(code).toBe(0);
  expect((await call).json).toMatchObject({ result: { isError: true } });
  const metrics = JSON.parse(readFileSync(path.join(served.out, 'metrics.json'), 'utf8'));
  expect(metrics).toMatchObject({ tasks: 1, answered: 0 });
  expect(existsSync(path.join(served.out, 'run_artifacts.tar.gz'))).toBe(true);
});

describe('serve', () => {
  test.each([
    [['--listen', '192.0.2.1'], 'name the variable with a token of yours'],
    [['--listen', '192.0.2.1', '--no-token'], 'name the variable with a token of yours'],
    [['--listen', '0.0.0.0', '--token', 'TEST_TOKEN'], 'name the one address that clients use'],
    [['--token', 'TEST_SHORT'], 'at least 16 characters, got 5'],
    [['--mcp', 'pigeon'], 'http, stdio'],
  ])('refuses %j with 2 and says what would do', async (args, message) => {
    const env = { TEST_SHORT: 'short', TEST_TOKEN: 'a token that is long enough' };
    const { code, stdout, stderr } = await callCli(['serve', ...args], { env });

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  test('takes the token from the environment, and says so of a port that is taken', async () => {
    const held = await takePort();
    const args = ['serve', '--team', team(), '--port', String(held.port), '--port-base', 'auto'];
    const { code, stderr } = await runCli([...args, '--out', temporaryFolder()]);
    await held.free();
    expect(code).toBe(1);
    expect(stderr).toContain('choose another with --port');

    const own = await startServe(['--team', team(), '--token', 'TEST_TOKEN'], { TEST_TOKEN: 'x'.repeat(20) });
    // Of the user's own, which is shown to nobody.
    expect(own.token).toBeNull();
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect(await post(own.mcp ?? '', 'x'.repeat(20), ping)).toMatchObject({ status: 200 });
    expect(await post(own.mcp ?? '', 'y'.repeat(20), ping)).toMatchObject({ status: 401 });
    await endServe(own);
  });
});
