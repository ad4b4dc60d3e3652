import os from 'node:os';
import { readLinuxFile } from '@gaia-mesh/core/system/platform.ts';
import { MIN_INVOCATIONS, MIN_ROUNDS } from '../statistics/nested-samples.ts';
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
 * Returns the milliseconds of all cores that other programs have taken since the machine started; NaN where the system does not tell what
 * this process took. The load of a machine does not tell others from our own arms, whose processes are many and want cores at the same time.
 * The difference of two readings counts arms that have ended by the second one as our own.
 */
export function readOthersMs(stat = readLinuxFile('/proc/self/stat') ?? '', cores = os.cpus()): number {
  // The name of the process, in brackets, may have spaces. The fields after it begin with the third.
  const fields = stat.replace(/^.*\) /s, '').split(' ');
  // User and system time of this process, and those of its children that have ended.
  const [user = Number.NaN, system = Number.NaN, ofUsers = Number.NaN, ofSystem = Number.NaN] = fields
    .slice(11, 15)
    .map(Number);
  const busyMs = cores.reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
  return busyMs - (user + system + ofUsers + ofSystem) * MS_PER_TICK;
}

interface Around {
  /** Processes that wanted a core before the measurement, on average over a minute. */
  readonly loadBefore: number;
  /** Milliseconds that other programs took, of all cores; NaN if it is not known. */
  readonly othersMs: number;
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
  if (othersMs > CROWDED * had)
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
