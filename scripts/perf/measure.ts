import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { packageFolder } from '../../config/package-root.ts';
import { unlessAborted } from '../../core/abort.ts';
import { interruptible } from '../interruptible.ts';

/** Figures of one measurement, smallest first. */
export interface Figures {
  readonly values: readonly number[];
  readonly median: number;
  /**
   * Interval for the median at 95 %, from order statistics of the binomial distribution (Conover, Practical Nonparametric
   * Statistics, 3rd ed., 3.2): no assumption about how the values are distributed.
   */
  readonly low: number;
  readonly high: number;
}

export function figuresOf(values: readonly number[]): Figures {
  const sorted = values.toSorted((a, b) => a - b);
  const n = sorted.length;
  const at = (index: number) => sorted[Math.min(n - 1, Math.max(0, index))] ?? Number.NaN;
  const half = 1.96 * Math.sqrt(n) * 0.5;
  const median = n % 2 === 1 ? at((n - 1) / 2) : (at(n / 2 - 1) + at(n / 2)) / 2;
  return { values: sorted, median, low: at(Math.floor(n / 2 - half)), high: at(Math.ceil(n / 2 + half) - 1) };
}

/** Ctrl-C ends a measurement in order: one for all of them, made when the first begins. */
let interruption: AbortController | undefined;
const children = new Set<ChildProcess>();

/**
 * A folder for one measurement. When it ends, also by Ctrl-C, the folder is gone, and so is everything that was {@link started}.
 *
 * @throws MeshError `interrupted`
 */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  interruption ??= interruptible('the measurement');
  const { signal } = interruption;
  signal.throwIfAborted();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-perf-'));
  const working = work(folder);
  try {
    return await unlessAborted(signal, working);
  } finally {
    for (const child of children) child.kill();
    // Without them it cannot go on, and tidies up what it has in the folder.
    await working.catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A process that a measurement has started. */
export function started<Child extends ChildProcess>(child: Child): Child {
  children.add(child);
  child.once('exit', () => children.delete(child)).once('error', () => children.delete(child));
  return child;
}

export interface BenchRun {
  /** From the start of npm to its end: what a person waits for. */
  readonly wallMs: number;
  readonly stdout: string;
  /** Resident memory while the run was on, sampled, MB: the launcher (with the hub) and the largest agent. */
  readonly memory: readonly { readonly hubMb: number; readonly agentMb: number }[];
}

/**
 * Runs `npm run bench` as a user would, on free ports.
 *
 * @throws Error when it does not end with exit code 0
 */
export async function runBench(
  folder: string,
  options: readonly string[],
  sampleEveryMs?: number,
): Promise<BenchRun> {
  const startMs = performance.now();
  const args = ['run', '-s', 'bench', '--', '--port-base', 'auto', '--out', folder, ...options];
  const child = started(spawn('npm', args, { cwd: packageFolder, stdio: ['ignore', 'pipe', 'pipe'] }));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-4096);
  });
  const memory: { hubMb: number; agentMb: number }[] = [];
  const timer =
    sampleEveryMs === undefined ? undefined : setInterval(() => void sample(folder, memory), sampleEveryMs);
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearInterval(timer);
  if (code !== 0) throw new Error(`bench ended with exit code ${code}: ${stderr}`);
  return { wallMs: performance.now() - startMs, stdout, memory };
}

const agentUpSchema = z.object({ event: z.literal('agent_up'), pid: z.int() });

/** Reads the processes of the run from its own log and lock, and their memory from `ps`, which Linux and macOS have. */
async function sample(folder: string, memory: { hubMb: number; agentMb: number }[]): Promise<void> {
  try {
    const workspaces = path.join(folder, 'workspaces');
    const hub = Number.parseInt(readFileSync(path.join(workspaces, '.lock'), 'utf8'), 10);
    const agents = readFileSync(path.join(workspaces, 'hub.log'), 'utf8')
      .slice(0, 4096)
      .split('\n')
      .flatMap((line) => {
        const entry = line.includes('agent_up') ? agentUpSchema.safeParse(JSON.parse(line)) : undefined;
        return entry?.success ? [entry.data.pid] : [];
      });
    if (agents.length === 0) return;
    const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=,rss=', '-p', [hub, ...agents].join(',')]);
    const rss = new Map(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]),
    );
    memory.push({
      hubMb: (rss.get(hub) ?? 0) / 1024,
      agentMb: Math.max(...agents.map((pid) => rss.get(pid) ?? 0)) / 1024,
    });
  } catch {
    // Before the run has begun, or after its end, there is nothing to read.
  }
}
