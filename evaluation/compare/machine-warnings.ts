import os from 'node:os';
import { readLinuxFile } from '@gaia-mesh/core/system/platform.ts';
import { MIN_INVOCATIONS, MIN_ROUNDS } from '../statistics/levels.ts';
import { count, formatDecimals } from '../terminal/table.ts';

/** The part of the machine's state that warnings are based on. */
interface Watched {
  readonly stealMs: number | null;
  readonly throttledMs: number | null;
  readonly availableBytes: number;
}

/** Processes that wanted a core, for each core of the machine, before the measurement. */
const BUSY = 0.5;
/** Share of the time of all cores that other programs may take during the measurement, which keeps about one core busy itself. */
const CROWDED = 0.25;
/** Share of the time of all cores above which time lost to neighbours shows in the figures. */
const TAKEN = 0.02;
/** Free memory below which the system starts to swap. */
const SHORT_OF_MEMORY_BYTES = 512 * 1024 * 1024;

/** Unit of `/proc/self/stat`: a hundredth of a second (man 5 proc, USER_HZ). */
const MS_PER_TICK = 10;

/**
 * Begins to count the milliseconds of all cores that other programs take. The load of a machine does not tell them from our own arms, whose
 * processes are many and want cores at the same time. Call the returned function when all arms have ended; its result is null where the
 * system does not tell what they took.
 */
export function watchOthers(): () => number | null {
  const before = readOthersMs();
  return () => {
    const now = readOthersMs();
    return before === null || now === null ? null : Math.max(0, now - before);
  };
}

/** Returns the time that all cores were busy, less that of this process and of its children that have ended. */
function readOthersMs(): number | null {
  // The name of the process, in brackets, may have spaces; the times of its ended children are the 14th and 15th fields after it.
  const fields = readLinuxFile('/proc/self/stat')
    ?.replace(/^.*\) /s, '')
    .split(' ');
  if (fields === undefined) return null;
  const [user = Number.NaN, system = Number.NaN] = fields.slice(13, 15).map(Number);
  const own = process.cpuUsage();
  const busyMs = os
    .cpus()
    .reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
  return busyMs - (own.user + own.system) / 1000 - (user + system) * MS_PER_TICK;
}

interface Around {
  /** Processes that wanted a core before the measurement, on average over a minute. */
  readonly loadBefore: number;
  /** Milliseconds that other programs took, of all cores; null if it is not known. */
  readonly othersMs: number | null;
  readonly elapsedMs: number;
  readonly cores?: number;
}

/** Lists the problems of the machine during a measurement, one sentence each. */
export function listMachineWarnings(
  rounds: readonly Watched[],
  { loadBefore, othersMs, elapsedMs, cores = os.availableParallelism() }: Around,
): string[] {
  const warnings: string[] = [];
  if (loadBefore > BUSY * cores)
    warnings.push(
      `the machine was busy before the measurement: ${formatDecimals(loadBefore, 1)} processes wanted one of ${cores} cores`,
    );
  const sum = (key: 'stealMs' | 'throttledMs') =>
    rounds.reduce((total, round) => total + (round[key] ?? 0), 0);
  const had = cores * elapsedMs;
  const taken = (ms: number) => `${formatDecimals((100 * ms) / had, 1)} % of the cores' time`;
  if (othersMs !== null && othersMs > CROWDED * had)
    warnings.push(`the machine was busy during the measurement: other programs took ${taken(othersMs)}`);
  if (sum('stealMs') > TAKEN * had)
    warnings.push(`its host gave ${taken(sum('stealMs'))} to other machines (steal)`);
  if (sum('throttledMs') > TAKEN * had)
    warnings.push(
      `it was throttled for ${taken(sum('throttledMs'))} (its control group's share was used up)`,
    );
  const least = Math.min(...rounds.map(({ availableBytes }) => availableBytes));
  if (least < SHORT_OF_MEMORY_BYTES)
    warnings.push(`it was short of memory: ${count(least / 1024 / 1024)} MB were left`);
  return warnings;
}

/** Share by which a budget may be exceeded without a warning. */
const TOLERANCE = 0.25;

/** Lists how a measurement fell short of its design because of its budget, one sentence each. */
export function listBudgetWarnings(
  { budgetMs, rounds, invocations }: { budgetMs: number; rounds: number; invocations: number },
  played: readonly { readonly rounds: readonly unknown[] }[],
  elapsedMs: number,
): string[] {
  const seconds = (ms: number) => formatDecimals(ms / 1000, 0);
  const warnings: string[] = [];
  const fewest = Math.min(...played.map((invocation) => invocation.rounds.length));
  const times = Math.max(1, MIN_INVOCATIONS / played.length) * Math.max(1, MIN_ROUNDS / fewest);
  const advice =
    times > 1
      ? `a verdict takes about ${Math.ceil((times * elapsedMs) / 1000)} s (--budget)`
      : 'a longer --budget measures more';
  if (fewest < rounds)
    warnings.push(
      `the budget of ${seconds(budgetMs)} s allowed ${fewest} of ${rounds} rounds in ${played.length} of ${invocations} invocations: ${advice}`,
    );
  if (elapsedMs > (1 + TOLERANCE) * budgetMs)
    warnings.push(
      `the budget of ${seconds(budgetMs)} s is shorter than one invocation of everything that is compared, which took ${seconds(elapsedMs)} s${fewest < rounds ? '' : `: ${advice}`}`,
    );
  return warnings;
}
