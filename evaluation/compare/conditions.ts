import { judgeLevels } from '../statistics/level-verdicts.ts';
import { measureLevels } from '../statistics/levels.ts';
import {
  type MeasuredMetric,
  type MeasuredRatio,
  SAVED,
  type ThresholdFigures,
} from '../statistics/thresholds.ts';
import type { ComparedAdapter, ComparisonFile } from './comparison-file.ts';
import { againstSaved } from './saved-baseline.ts';

type Samples = readonly (readonly number[])[];

/** What the conditions of `--fail-if` are about, from a comparison and from one that was saved, if there is one. */
export function figuresFor(now: ComparisonFile, saved: ComparisonFile | undefined): ThresholdFigures {
  const rowOf = (file: ComparisonFile | undefined, arm: string) =>
    file?.adapters.find(({ adapter }) => adapter === arm);
  return {
    arms: now.adapters.map(({ adapter }) => adapter),
    exact: (arm, metric, isSaved) => {
      const row = rowOf(isSaved ? saved : now, arm);
      if (row === undefined) return undefined;
      const { total } = row.ledger;
      return metric === 'bytes' ? total.wire : total.header_size;
    },
    measured: (arm, metric, times) => {
      const row = rowOf(now, arm);
      const own = row === undefined ? undefined : samplesOf(row, metric);
      if (row === undefined || own === undefined) return undefined;
      if (times === null)
        return ratioOf(
          own.map((rounds) => rounds.map(() => 1)),
          own,
          metric,
          now,
        );
      const other = rowOf(times === SAVED ? saved : now, times === SAVED ? arm : times);
      if (other === undefined || samplesOf(other, metric) === undefined) return undefined;
      const isSaved = times === SAVED;
      const [base, values] = isSaved
        ? againstSaved(other, row, (one) => samplesOf(one, metric) ?? [])
        : [samplesOf(other, metric) ?? [], own];
      return ratioOf(base, values, metric, now);
    },
  };
}

function samplesOf(row: ComparedAdapter, metric: MeasuredMetric): Samples | undefined {
  switch (metric) {
    case 'time':
      return row.samples_us;
    case 'cpu':
      return row.samples_cpu_us ?? undefined;
    case 'first':
      return row.samples_first_us.map((us) => [us]);
  }
}

function ratioOf(
  base: Samples,
  values: Samples,
  metric: MeasuredMetric,
  { margin }: ComparisonFile,
): MeasuredRatio | undefined {
  const [judged] = judgeLevels([measureLevels(base, values, metric === 'first' ? 1 : undefined)], { margin });
  if (judged === undefined) return undefined;
  const { ratio, low, high, verdict } = judged;
  return { ratio, low, high, margin, isEquivalent: verdict === 'equivalent' };
}
