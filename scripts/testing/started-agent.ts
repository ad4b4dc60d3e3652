import { spawn } from 'node:child_process';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '@gaia-mesh/core/testing/free-port.ts';
import { expect, onTestFinished } from 'vitest';
import { callCli } from './call-cli.ts';
import { temporaryFolder } from './cli.ts';
import { readMetrics } from './run-files.ts';
import { teamFile, writtenFile } from './team-file.ts';

/** Starts a program that is an agent, with a free port and the id `0` as its last arguments, and waits until it listens. */
export async function startAgent(
  [program, ...args]: readonly [string, ...string[]],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const port = await freePort();
  const child = spawn(program, [...args, String(port), '0'], {
    env: { ...process.env, ...env },
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
    await delay(50);
  }
  throw new Error(`${program} ended with ${child.exitCode}`);
}

/** Has the agent at `port` answer a question, and returns the metrics of the run. */
export async function runWith(port: number, ...args: readonly string[]) {
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
