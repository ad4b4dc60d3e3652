import { type ChildProcess, spawn } from 'node:child_process';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { freePort } from '@gaia-mesh/core/system/process/free-port.ts';
import { expect, onTestFinished } from 'vitest';
import { callCli } from './call-cli.ts';
import { temporaryFolder } from './cli.ts';
import { readMetrics } from './run-files.ts';
import { teamFile, writtenFile } from './team-file.ts';

/** The folder of the client for agents in Python. */
export const client: string = path.join(codeFolder, 'clients', 'python');

/** Starts an agent in Python, and waits until it listens. */
export async function startAgent(
  python: string,
  program: string,
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
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
