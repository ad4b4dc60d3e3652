import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { findCacheFolder } from '@gaia-mesh/core/system/platform.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { Cli } from '../../testing/cli.ts';
import { runWith, startAgent } from '../../testing/started-agent.ts';

const frameworks = path.join(findCacheFolder(), 'frameworks');
const python = path.join(frameworks, 'bin', 'python');
const model = path.join(findCacheFolder(), 'models', 'SmolLM2-135M-Instruct.Q4_1.gguf');
const isThere = existsSync(path.join(frameworks, 'installed')) && existsSync(model);
const NEEDS = 'agents of frameworks need scripts/testing/install-frameworks.sh and fetch-model.sh';
const isSkipped = !isThere && process.env.CI !== 'true';
if (isSkipped) console.warn(`skipped: ${NEEDS}`);

describe.skipIf(isSkipped)('an agent of', () => {
  let server: Cli;
  let env: Record<string, string> = {};
  beforeAll(async () => {
    if (!isThere) throw new Error(`CI: ${NEEDS}`);
    server = new Cli(['model', 'serve', model]);
    await server.says(/Ctrl-C ends it/);
    env = Object.fromEntries(
      [...server.stdout.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
    );
    expect(Object.keys(env)).toEqual(['OPENAI_BASE_URL', 'OPENAI_API_KEY', 'OPENAI_MODEL']);
  });
  afterAll(async () => {
    if (!isThere) return;
    server.signal('SIGTERM');
    expect((await server.ended()).code).toBe(0);
  });

  test.each(['langgraph', 'openai_agents', 'smolagents', 'autogen'])(
    '%s answers with a real model, and its tokens are counted',
    { timeout: 400_000 },
    async (name) => {
      const program = path.join(codeFolder, 'examples', 'frameworks', `${name}_agent.py`);
      expect(readFileSync(program, 'utf8').trim().split('\n').length).toBeLessThanOrEqual(60);
      const metrics = await runWith(
        await startAgent([python, '-B', program], {
          ...env,
          PYTHONPATH: path.join(codeFolder, 'clients', 'python'),
        }),
      );
      expect(metrics.status).toBe('answered');
      expect(metrics.token_sum).toBeGreaterThan(50);
    },
  );
});

test.skipIf(isSkipped)('the MCP server of the examples offers its tool', async () => {
  const server = path.join(codeFolder, 'examples', 'frameworks', 'mcp_server.py');
  const { code, stdout, stderr } = await callCli(['tools', python, server, '--json']);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('fathoms_to_metres');
});
