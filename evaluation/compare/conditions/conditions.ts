import { judgeComparisons } from '../../statistics/level-verdicts.ts';
import { compareNestedSamples } from '../../statistics/levels.ts';
import {
  type MeasuredMetric,
  type MeasuredRatio,
  SAVED,
  type ThresholdFigures,
} from '../../statistics/thresholds.ts';
import type { Compared, Samples } from './compared.ts';
import { asManyOfEach } from './saved-baseline.ts';

/** Creates the figures that `--fail-if` conditions are evaluated on, from this comparison and the saved one, if there is one. */
export function createThresholdFigures(now: Compared, saved: Compared | undefined): ThresholdFigures {
  const armOf = (compared: Compared | undefined, arm: string) =>
    compared?.arms.find(({ name }) => name === arm);
  return {
    arms: now.arms.map(({ name }) => name),
    exact: (arm, metric, isSaved) => armOf(isSaved ? saved : now, arm)?.[metric],
    measured: (arm, metric, times) => {
      const own = armOf(now, arm)?.samples(metric) ?? [];
      const isSaved = times === SAVED;
      const base =
        times === null
          ? own.map((rounds) => rounds.map(() => 1))
          : (armOf(isSaved ? saved : now, isSaved ? arm : times)?.samples(metric) ?? []);
      if (own.length === 0 || base.length === 0) return undefined;
      const [before, after] = isSaved ? asManyOfEach(base, own) : [base, own];
      const ratio = measureRatio(before, after, metric, now.margin);
      const itself = now.nullArm(metric) ?? undefined;
      return ratio && { ...ratio, nullArm: itself && { low: itself.low, high: itself.high ?? Infinity } };
    },
  };
}

function measureRatio(
  base: Samples,
  values: Samples,
  metric: MeasuredMetric,
  margin: number,
): MeasuredRatio | undefined {
  const [judged] = judgeComparisons(
    [compareNestedSamples(base, values, metric === 'first' ? 1 : undefined)],
    { margin },
  );
  if (judged === undefined) return undefined;
  const { ratio, low, high, verdict } = judged;
  return { ratio, low, high, margin, isEquivalent: verdict === 'equivalent' };
}
