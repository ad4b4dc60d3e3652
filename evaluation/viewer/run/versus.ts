import type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import { formatInterval, formatVerdict } from '../../compare/verdict-text.ts';
import { judgeComparisons } from '../../statistics/level-verdicts.ts';
import { compareNestedSamples, MIN_INVOCATIONS } from '../../statistics/levels.ts';
import { formatCount, formatCounted, formatDecimals, formatMs, formatRatio, toLine } from '../format.ts';

/** Returns the main figure of runs beside each other: the bytes of a task of the second against the first. */
export function describeBytes([first, second]: readonly RunMetrics[]): string | null {
  if (first === undefined || second === undefined) return null;
  const name = first.tasks === second.tasks ? 'bytes' : 'bytes per task';
  const [base, other] = [first, second].map(({ ledger, tasks }) =>
    first.tasks === second.tasks ? ledger.total.wire : ledger.total.wire / Math.max(1, tasks),
  ) as [number, number];
  if (other === base) return `Run 2 sent as many ${name} as run 1`;
  return `Run 2 sent ${base === 0 ? 'other bytes than' : `${formatRatio(other / base)} the ${name} of`} run 1`;
}

/**
 * Times of runs are judged as those of invocations: each run is a set of fresh processes, and has one time. Of a single run of each
 * setting nothing can be said, whatever the ratio.
 */
export function describeTimes(all: readonly RunMetrics[]): string {
  const bySetting = Map.groupBy(all, formatSetting);
  const timesOf = (runs: readonly RunMetrics[]) =>
    runs.map(({ elapsed_ms, tasks }) => Math.max(elapsed_ms, Number.MIN_VALUE) / Math.max(1, tasks));
  const [[name, base] = ['', []], ...others] = bySetting;
  if (others.length === 0) {
    const times = timesOf(all);
    return (
      `The ${formatCounted(all.length, 'run')} have the same setting (${name}). A task took ${formatMs(Math.min(...times))} to ` +
      `${formatMs(Math.max(...times))}: that is how much one run differs from another.`
    );
  }
  const fewest = Math.min(base.length, ...others.map(([, { length }]) => length));
  if (fewest < MIN_INVOCATIONS)
    return (
      `Times are not set against each other: of ${formatCounted(fewest, 'run')} of a setting nothing can be told, since two runs of the same setting differ, too. ` +
      `It takes at least ${MIN_INVOCATIONS}\u00a0runs of each; compare makes them by itself.`
    );
  const compared = others.map(([, runs]) => {
    const pairs = Math.min(base.length, runs.length);
    const column = (of: readonly RunMetrics[]) => timesOf(of.slice(0, pairs)).map((ms) => [ms]);
    return compareNestedSamples(column(base), column(runs), 1);
  });
  const parts = judgeComparisons(compared).map((judged, index) => {
    const [setting = '', runs = []] = others[index] ?? [];
    return `${setting}: ${formatVerdict(judged)} (${formatDecimals(judged.ratio, 2)} times, 95\u00a0% interval ${formatInterval(judged)}, ${formatCount(runs.length)}\u00a0runs)`;
  });
  return `Time of a task against ${name} (${formatCounted(base.length, 'run')}). ${parts.join('; ')}.`;
}

function formatSetting({ team, engine, adapter }: RunMetrics): string {
  return [team, engine, adapter].map((name) => toLine(name, 40)).join(', ');
}
