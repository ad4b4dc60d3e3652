import { describeEnvironment } from '@gaia-mesh/core/run/manifest.ts';
import {
  compareNestedSamples,
  type JudgedComparison,
  judgeComparisons,
} from '../statistics/nested-samples.ts';
import { COMPARISON_VERSION, type ComparedArm, type Metric, type Samples } from './comparison-file.ts';
import type { MeasuredArms } from './experiment.ts';

/** Figures of an arm by itself; the comparison with the baseline follows when all arms are known. */
type ArmFigures = Pick<ComparedArm, 'name' | 'invocations' | 'wire_bytes' | 'samples_us'>;

/**
 * Compares each arm of an experiment with the baseline, which is the first, and the baseline with itself.
 *
 * @param again samples of the baseline's second arm
 * @param margin ratios within 1 / (1 + margin) to 1 + margin count as equal
 */
export function judgeArms<Own extends ArmFigures>(
  measured: MeasuredArms<unknown>,
  arms: readonly [Own, ...Own[]],
  again: Samples,
  margin: number,
) {
  const [baseline, ...others] = arms;
  const judge = (metric: Metric) => judgeMetric(metric, arms, again, margin);
  const verdicts = {
    time: judge('time'),
    cpu: judge('cpu'),
    first: judge('first'),
    saturated: judge('saturated'),
  };
  const pick = (index: number) => ({
    time: verdicts.time[index] ?? null,
    cpu: verdicts.cpu[index] ?? null,
    first: verdicts.first[index] ?? null,
    saturated: verdicts.saturated[index] ?? null,
  });
  return {
    ...describeExperiment(measured),
    baseline: baseline.name,
    margin,
    null_test: { ...pick(others.length), samples_us: again },
    arms: arms.map((arm, index) => ({
      ...arm,
      vs_baseline:
        index === 0 ? null : { bytes: judgeBytes(baseline.wire_bytes, arm.wire_bytes), ...pick(index - 1) },
    })),
    invocations: baseline.invocations,
    rounds: Math.min(
      ...baseline.samples_us.cpu.map(({ length }) => length),
      ...baseline.samples_us.time.map(({ length }) => length),
    ),
  };
}

/**
 * Judges all arms in one metric together, and at last the baseline against itself. An arm whose metric was not measured, such as one that
 * did not keep up with the rate, has no verdict. Ends at ∞ become null in JSON.
 */
function judgeMetric(
  metric: Metric,
  [baseline, ...others]: readonly [ArmFigures, ...ArmFigures[]],
  again: Samples,
  margin: number,
): (JudgedComparison | null)[] {
  const base = baseline.samples_us[metric];
  const compare = (own: Samples[Metric]) =>
    base.length === 0 || own.length === 0
      ? undefined
      : // A process has a first use only once.
        compareNestedSamples(base, own, metric === 'first' ? 1 : undefined);
  const nullArm = compare(again[metric]);
  const compared = others.map(({ samples_us }) => compare(samples_us[metric]));
  const measured = compared.filter((own) => own !== undefined);
  const judged = judgeComparisons(measured, { margin, nullArm });
  const [itself] = judgeComparisons(nullArm === undefined ? [] : [nullArm], { margin });
  return [
    ...compared.map((own) => (own === undefined ? null : (judged[measured.indexOf(own)] ?? null))),
    itself ?? null,
  ];
}

/**
 * Compares exact byte sums of the same packets. A deterministic arm writes them the same way every time, so there is nothing to estimate:
 * one more byte is larger, and the interval is the ratio itself.
 */
function judgeBytes(baseline: number, other: number) {
  for (const bytes of [baseline, other]) {
    if (!(Number.isSafeInteger(bytes) && bytes > 0)) {
      throw new RangeError(`expected an exact, positive number of bytes, got ${bytes}`);
    }
  }
  const ratio = other / baseline;
  const verdict = other < baseline ? 'smaller' : other > baseline ? 'larger' : 'equal';
  return { ratio, low: ratio, high: ratio, verdict };
}

/** Rounds to a tenth of a microsecond, below which clocks have no meaning. */
export function roundSamples(samples: readonly (readonly number[])[]): number[][] {
  return samples.map((own) => own.map((us) => Math.round(us * 10) / 10));
}

/** Describes how the experiment went, for the file. */
function describeExperiment({ machine, lost, ...measured }: MeasuredArms<unknown>) {
  return {
    schema_version: COMPARISON_VERSION,
    measured_at: new Date().toISOString(),
    environment: describeEnvironment(),
    elapsed_ms: measured.elapsedMs,
    lost_invocations: lost,
    stopped: measured.stopped,
    machine: machine.map(({ invocation, round, load, stealMs, throttledMs, availableBytes }) => ({
      invocation,
      round,
      load,
      steal_ms: stealMs,
      throttled_ms: throttledMs,
      available_bytes: availableBytes,
    })),
    warnings: measured.warnings,
    failed: measured.failed,
  };
}
