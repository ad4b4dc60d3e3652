import { vi } from 'vitest';
import { runProgram } from '../command-line/program.ts';
import { commands } from '../commands.ts';
import { withAgentsHere } from './agents-here.ts';
import { type CliOptions, type CliResult, plainEnvironment, runCli, temporaryFolder } from './cli.ts';

const STREAMS = ['stdout', 'stderr'] as const;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

type CallOptions = Pick<CliOptions, 'cwd' | 'env'>;

/** The newest call, for which the next one waits: a process has one working folder and one standard output. */
let newest: Promise<unknown> = Promise.resolve();

/**
 * Runs a command and its agents to the end in this process, and leaves the process as it was. This takes a third of the time of
 * a process of its own, which only tests of signals, pipes, memory and the bundle need.
 */
export function callCli(args: readonly string[], options: CallOptions = {}): Promise<CliResult> {
  // A fault that kills an agent needs a process that can be killed.
  const start = args.some((word) => word.includes('kill=')) ? runCli : callAlone;
  const call = newest.then(() => start(args, options));
  newest = call.catch(() => undefined);
  return call;
}

async function callAlone(args: readonly string[], { cwd, env }: CallOptions): Promise<CliResult> {
  const { argv, exitCode } = process;
  const folder = process.cwd();
  const environment = { ...process.env };
  const said = { stdout: '', stderr: '' };
  const streams = STREAMS.map((name) => ({
    stream: process[name],
    listeners: process[name].listeners('error'),
    spy: vi.spyOn(process[name], 'write').mockImplementation((text) => {
      said[name] += String(text);
      return true;
    }),
  }));
  const heard = SIGNALS.map((name) => ({ name, listeners: process.listeners(name) }));
  try {
    replaceEnvironment({ ...plainEnvironment(), ...env });
    process.chdir(cwd ?? temporaryFolder());
    process.argv = [...argv.slice(0, 2), ...args];
    process.exitCode = undefined;
    await withAgentsHere(() => runProgram({ name: 'gaia-mesh', description: '', commands }));
    return { code: Number(process.exitCode ?? 0), signal: null, ...said };
  } finally {
    process.exitCode = exitCode;
    process.argv = argv;
    process.chdir(folder);
    replaceEnvironment(environment);
    // The command's listeners would keep the process from ending.
    for (const { name, listeners } of heard)
      for (const listener of process.listeners(name))
        if (!listeners.includes(listener)) process.off(name, listener);
    for (const { stream, listeners, spy } of streams) {
      spy.mockRestore();
      for (const listener of stream.listeners('error'))
        if (!listeners.includes(listener)) stream.off('error', listener as () => void);
    }
  }
}

function replaceEnvironment(environment: Readonly<NodeJS.ProcessEnv>): void {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
}
