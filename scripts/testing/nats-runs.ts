import { expect, onTestFinished } from 'vitest';
import { Cli, runCli, temporaryFolder } from './cli.ts';
import { readMetrics } from './run-files.ts';

/** A whole run: real processes, the default team, the default task. */
export async function runBench(args: readonly string[], env: Record<string, string> = {}) {
  const out = temporaryFolder();
  const result = await runCli(['bench', '--port-base', 'auto', '--out', out, ...args], { env });
  return { ...result, out };
}

/** An agent in a terminal of its own, for any hub that asks for it on the server. */
export async function agentByHand(url: string, id: string, tool: string, env: Record<string, string> = {}) {
  const args = ['--transport', 'nats', '--nats-url', url, '--workspace', id];
  const agent = new Cli(['agent', '--id', id, '--tool', tool, ...args], { env });
  onTestFinished(() => agent.signal('SIGKILL'));
  await agent.says(new RegExp(`agent ${id} .*listens on ${url} as gaia.${id}`));
  return agent;
}

/** What a run that ends well leaves in `metrics.json`. */
export async function metricsOf(args: readonly string[], env: Record<string, string> = {}) {
  const { code, stderr, out } = await runBench(args, env);
  expect(code, stderr).toBe(0);
  return readMetrics(out);
}
