import { judgeLevels } from '../../../statistics/level-verdicts.ts';
import { measureLevels } from '../../../statistics/levels.ts';
import type { MeasuredMetric, ThresholdFigures } from '../../../statistics/thresholds.ts';
import type { BindingArm, BindingsFile } from './bindings-file.ts';

/**
 * What the conditions of `--fail-if` are about. An arm is named as in the tables, without spaces: `a2a/jsonrpc:sdk`, and
 * `a2a/jsonrpc:sdk:tls:on` with its levels. Bytes are of an exchange, times of an exchange at the fixed rate, `first` of the set-up.
 */
export function figuresForConditions({ arms, margin }: BindingsFile): ThresholdFigures {
  const armOf = (name: string) => arms.find((arm) => conditionName(arm) === name);
  return {
    arms: arms.map(conditionName),
    exact: (name, metric) => {
      const bytes = armOf(name)?.bytes;
      if (bytes === undefined) return undefined;
      if (metric === 'bytes') return bytes.sent.raw + bytes.received.raw;
      return bytes.sent.raw - bytes.sent.payload + bytes.received.raw - bytes.received.payload;
    },
    measured: (name, metric, times) => {
      const own = samplesOf(armOf(name), metric);
      const base =
        times === null ? own.map((rounds) => rounds.map(() => 1)) : samplesOf(armOf(times), metric);
      if (own.length === 0 || base.length === 0) return undefined;
      const [judged] = judgeLevels([measureLevels(base, own, metric === 'first' ? 1 : undefined)], {
        margin,
      });
      if (judged === undefined) return undefined;
      const { ratio, low, high, verdict } = judged;
      return { ratio, low, high, margin, isEquivalent: verdict === 'equivalent' };
    },
  };
}

function conditionName({ name }: BindingArm): string {
  return name.replaceAll(/[ =]/g, ':');
}

function samplesOf(arm: BindingArm | undefined, metric: MeasuredMetric): readonly (readonly number[])[] {
  if (arm === undefined) return [];
  switch (metric) {
    case 'time':
      return arm.samples.latency_us;
    case 'cpu':
      return arm.samples.cpu_us;
    case 'first':
      return arm.setup.samples_ms.map((ms) => [ms * 1000]);
  }
}
