import { expect, onTestFinished } from 'vitest';
import { callCli } from './call-cli.ts';
import { Cli, temporaryFolder } from './cli.ts';
import { readMetrics } from './run-files.ts';

/** Runs the default task with the default team, and returns the outcome and the folder of the results. */
export async function runBench(args: readonly string[], env: Record<string, string> = {}) {
  const out = temporaryFolder();
  const result = await callCli(['bench', '--port-base', 'auto', '--out', out, ...args], { env });
  return { ...result, out };
}

/** Starts an agent in a terminal of its own, for any hub that calls it on the server. */
export async function agentByHand(url: string, id: string, tool: string, env: Record<string, string> = {}) {
  const args = ['--transport', 'nats', '--nats-url', url, '--workspace', id];
  const agent = new Cli(['agent', '--id', id, '--tool', tool, ...args], { env });
  onTestFinished(() => agent.signal('SIGKILL'));
  await agent.says(new RegExp(`agent ${id} .*listens on ${url} as gaia.${id}`));
  return agent;
}

/** Runs the benchmark to its end and returns its `metrics.json`. */
export async function metricsOf(args: readonly string[], env: Record<string, string> = {}) {
  const { code, stderr, out } = await runBench(args, env);
  expect(code, stderr).toBe(0);
  return readMetrics(out);
}
