import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { EXIT } from '@gaia-mesh/cli/command-line/exit-code.ts';
import { handleInterrupt } from '@gaia-mesh/cli/command-line/interruptible.ts';
import { useTemporaryFolder } from '@gaia-mesh/cli/command-line/temporary-folder.ts';
import { readRunEvents } from '@gaia-mesh/core/run/run-event.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { raceAbort } from '@gaia-mesh/core/system/process/abort.ts';
import { guard } from '@gaia-mesh/core/system/process/guard.ts';

/** Ends measurements in order on Ctrl-C: one controller for all of them, created with the first. */
let interruption: AbortController | undefined;
const children = new Set<ChildProcess>();

/**
 * Gives `work` a folder for one measurement. At its end, and on Ctrl-C, the folder is deleted and every process of
 * {@link trackChild} is killed.
 *
 * @throws MeshError `interrupted`
 */
export async function useRunFolder<T>(work: (folder: string, signal: AbortSignal) => Promise<T>): Promise<T> {
  interruption ??= handleInterrupt('the measurement');
  const { signal } = interruption;
  signal.throwIfAborted();
  return useTemporaryFolder('lab', async (folder) => {
    const working = work(folder, signal);
    try {
      return await raceAbort(signal, working);
    } finally {
      for (const child of children) child.kill();
      // Without its processes the work cannot continue, and tidies up its folder.
      await working.catch(() => undefined);
    }
  });
}

/** Registers a process that a measurement has started. */
export function trackChild<Child extends ChildProcess>(child: Child): Child {
  children.add(child);
  const release = guard({ pid: child.pid });
  const ended = () => {
    children.delete(child);
    release();
  };
  child.once('exit', ended).once('error', ended);
  return child;
}

/** Resident memory of a run, MB: the launcher (with the hub) and the largest agent. */
export interface RunMemory {
  readonly hubMb: number;
  readonly agentMb: number;
}

interface BenchRun {
  /** Time from the start of npm to its end, which a person waits for. */
  readonly wallMs: number;
  readonly stdout: string;
  /** Samples taken during the run. */
  readonly memory: readonly RunMemory[];
}

/**
 * Runs `npm run bench` as a user would, on free ports. Tasks of a batch without an answer are a result.
 *
 * @throws Error when it does not end, or a single task has no answer
 */
export async function runBench(
  folder: string,
  options: readonly string[] = [],
  sampleEveryMs?: number,
): Promise<BenchRun> {
  const startMs = performance.now();
  const memory: RunMemory[] = [];
  const timer =
    sampleEveryMs === undefined
      ? undefined
      : setInterval(() => void sampleMemory(folder, memory), sampleEveryMs);
  const args = ['--port-base', 'auto', '--out', folder, ...options];
  const mayFail = options.includes('--tasks');
  const stdout = await runCommand('bench', args, { mayFail }).finally(() => clearInterval(timer));
  return { wallMs: performance.now() - startMs, stdout, memory };
}

/**
 * Runs `npm run <command>` as a user would and returns its standard output.
 *
 * @throws Error when it ends with another exit code than 0
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  {
    mayFail = false,
    onError = () => undefined,
  }: {
    /** Accepts exit code 1, too: the command came to its end, and not everything succeeded. */
    readonly mayFail?: boolean;
    /** Receives the end of standard error each time that it grows. */
    readonly onError?: (said: string) => void;
  } = {},
): Promise<string> {
  const npm = ['run', '-s', command, '--', ...args];
  const child = trackChild(spawn('npm', npm, { cwd: codeFolder, stdio: ['ignore', 'pipe', 'pipe'] }));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-4096);
    onError(stderr);
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== EXIT.done && !(mayFail && code === EXIT.failed))
    throw new Error(`${[command, ...args].join(' ')} ended with exit code ${code}: ${stderr}`);
  return stdout;
}

/** Characters at the beginning of a hub's log, where its agents come up. */
const LOG_CHARACTERS = 16 * 1024;

/** Reads the processes of the run from its own log and lock, and their memory from `ps`, which Linux and macOS have. */
async function sampleMemory(folder: string, memory: RunMemory[]): Promise<void> {
  try {
    const workspaces = path.join(folder, 'workspaces');
    const hub = Number.parseInt(readFileSync(path.join(workspaces, '.lock'), 'utf8'), 10);
    const log = readFileSync(path.join(workspaces, 'hub.log'), 'utf8').slice(0, LOG_CHARACTERS);
    const agents = Array.from(readRunEvents(log, ['agent_up'])).flatMap(({ pid }) => pid ?? []);
    if (agents.length === 0) return;
    const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=,rss=', '-p', [hub, ...agents].join(',')]);
    const lines = stdout.trim().split('\n');
    const rss = new Map(lines.map((line) => line.trim().split(/\s+/).map(Number) as [number, number]));
    memory.push({
      hubMb: (rss.get(hub) ?? 0) / 1024,
      agentMb: Math.max(...agents.map((pid) => rss.get(pid) ?? 0)) / 1024,
    });
  } catch {
    // There is nothing to read before the run has begun or after its end.
  }
}
