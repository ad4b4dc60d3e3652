import { count, formatDecimals } from '../terminal/table.ts';

/** The part of the machine's state that warnings are based on. */
interface Watched {
  readonly load: number;
  readonly stealMs: number | null;
  readonly throttledMs: number | null;
  readonly availableBytes: number;
}

/** Processes that wanted a core, for each core of the machine, before the measurement. */
const BUSY = 0.5;
/** Processes that wanted a core, for each core, during the measurement, which keeps about one core busy itself. */
const CROWDED = 2;
/** Share of the time of all cores above which time lost to neighbours shows in the figures. */
const TAKEN = 0.02;
/** Free memory below which the system starts to swap. */
const SHORT_OF_MEMORY_BYTES = 512 * 1024 * 1024;

/**
 * Lists the problems of the machine during a measurement, one sentence each.
 *
 * @param loadBefore processes that wanted a core before the measurement, on average over a minute
 */
export function listMachineWarnings(
  rounds: readonly Watched[],
  { loadBefore, cores, elapsedMs }: { loadBefore: number; cores: number; elapsedMs: number },
): string[] {
  const warnings: string[] = [];
  if (loadBefore > BUSY * cores)
    warnings.push(
      `the machine was busy before the measurement: ${formatDecimals(loadBefore, 1)} processes wanted one of ${cores} cores`,
    );
  const most = Math.max(0, ...rounds.map(({ load }) => load));
  if (most > CROWDED * cores)
    warnings.push(
      `the machine was busy during the measurement: up to ${formatDecimals(most, 1)} processes wanted one of ${cores} cores`,
    );
  const sum = (key: 'stealMs' | 'throttledMs') =>
    rounds.reduce((total, round) => total + (round[key] ?? 0), 0);
  const had = cores * elapsedMs;
  const taken = (ms: number) => `${formatDecimals((100 * ms) / had, 1)} % of the cores' time`;
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
  if (fewest < rounds)
    warnings.push(
      `the budget of ${seconds(budgetMs)} s allowed ${fewest} of ${rounds} rounds in ${played.length} of ${invocations} invocations: a longer --budget measures more`,
    );
  if (elapsedMs > (1 + TOLERANCE) * budgetMs)
    warnings.push(
      `the budget of ${seconds(budgetMs)} s is shorter than one invocation of everything that is compared, which took ${seconds(elapsedMs)} s`,
    );
  return warnings;
}
