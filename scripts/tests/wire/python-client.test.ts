import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { findCacheFolder } from '@gaia-mesh/core/system/platform.ts';
import { freePort } from '@gaia-mesh/core/system/process/free-port.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { Cli, temporaryFolder } from '../../testing/cli.ts';
import { readMetrics } from '../../testing/run-files.ts';
import { teamFile, writtenFile } from '../../testing/team-file.ts';

const client = path.join(codeFolder, 'clients', 'python');
const frameworks = path.join(findCacheFolder(), 'frameworks');
const python = path.join(frameworks, 'bin', 'python');
const model = path.join(findCacheFolder(), 'models', 'SmolLM2-135M-Instruct.Q4_1.gguf');
const isCi = process.env.CI === 'true';
const hasFrameworks = existsSync(path.join(frameworks, 'installed'));
if (!hasFrameworks && !isCi)
  console.warn('skipped: agents of frameworks need scripts/testing/install-frameworks.sh and fetch-model.sh');

/** Starts an agent in Python, and waits until it listens. */
async function startAgent(program: string, env: Readonly<Record<string, string>>): Promise<number> {
  const port = await freePort();
  const child: ChildProcess = spawn(python, ['-B', program, String(port), '0'], {
    env: { ...process.env, PYTHONPATH: client, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  while (child.exitCode === null) {
    const isUp = await new Promise((resolve) => {
      const socket = net.connect({ host: '127.0.0.1', port });
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isUp) return port;
    await delay(100);
  }
  throw new Error(`${program} ended with ${child.exitCode}`);
}

async function runWith(port: number, ...args: readonly string[]) {
  const out = temporaryFolder();
  const document = writtenFile(out, 'text.txt', 'The mill was built in 1804. It burned down later.');
  const team = teamFile({
    final: 0,
    limits: { task_timeout_s: 300 },
    agents: [{ id: 0, tool: 'reason', port }],
  });
  const run = await callCli([
    ...['bench', '--team', team, '--external', '0', '--out', out, '--document', document],
    ...['--question', 'When was the mill built?', ...args],
  ]);
  expect(run.code, run.stderr).toBe(0);
  return readMetrics(out);
}

describe.skipIf(!hasFrameworks && !isCi)('the client for Python', () => {
  test('passes its own tests', () => {
    const tests = spawnSync(python, ['-B', '-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'tests'], {
      cwd: client,
      encoding: 'utf8',
    });
    expect(tests.stdout + tests.stderr).toMatch(/\d+ passed in/);
    expect(tests.status).toBe(0);
  });

  test('answers in a run by the program that its guide shows, over json and msgpack', async () => {
    const guide = readFileSync(path.join(client, 'README.md'), 'utf8');
    const [, text = ''] = /```python\n([\s\S]*?)```/.exec(guide) ?? [];
    expect(text.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(15);
    const port = await startAgent(writtenFile(temporaryFolder(), 'first_sentence.py', text), {});
    for (const adapter of ['json', 'msgpack'])
      expect(await runWith(port, '--adapter', adapter)).toMatchObject({
        answer: 'The mill was built in 1804',
        refused_packets: 0,
        ledger: { balanced: true },
      });
  });
});

describe.skipIf(!(hasFrameworks && existsSync(model)) && !isCi)('an agent of', () => {
  let server: Cli;
  let env: Record<string, string> = {};
  beforeAll(async () => {
    server = new Cli(['model', 'serve', model]);
    await server.says(/Ctrl-C ends it/);
    env = Object.fromEntries(
      [...server.stdout.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
    );
    expect(Object.keys(env)).toEqual(['OPENAI_BASE_URL', 'OPENAI_API_KEY', 'OPENAI_MODEL']);
  });
  afterAll(async () => {
    server.signal('SIGTERM');
    expect((await server.ended()).code).toBe(0);
  });

  test.each(['langgraph', 'openai_agents', 'smolagents', 'autogen'])(
    '%s answers with a real model, and its tokens are counted',
    { timeout: 400_000 },
    async (name) => {
      const program = path.join(codeFolder, 'examples', 'frameworks', `${name}_agent.py`);
      expect(readFileSync(program, 'utf8').trim().split('\n').length).toBeLessThanOrEqual(60);
      const metrics = await runWith(await startAgent(program, env));
      expect(metrics.status).toBe('answered');
      expect(metrics.token_sum).toBeGreaterThan(50);
    },
  );
});

test.skipIf(!hasFrameworks && !isCi)('the MCP server of the examples offers its tool', async () => {
  const server = path.join(codeFolder, 'examples', 'frameworks', 'mcp_server.py');
  const { code, stdout, stderr } = await callCli(['tools', python, server, '--json']);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('fathoms_to_metres');
});
