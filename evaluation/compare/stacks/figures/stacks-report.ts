import { describeEnvironment } from '@gaia-mesh/core/run/manifest.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { computeMedian } from '../../../statistics/inference/quantile.ts';
import { type JudgedComparison, judgeComparisons } from '../../../statistics/level-verdicts.ts';
import { compareNestedSamples } from '../../../statistics/levels.ts';
import type { MeasuredArms } from '../../experiment.ts';
import type { Arm } from '../arms.ts';
import type { Invocation } from '../invocation.ts';
import type { PlannedExchange } from '../peers/protocol.ts';
import type { Workload } from '../workload.ts';
import { type ArmFigures, collectSamples, computeArmFigures } from './arm-figures.ts';
import { attributeArms } from './stack-attribution.ts';
import { parseStacks, type StackArm, type StacksFile } from './stacks-file.ts';
import { describeStacks } from './stacks-text.ts';

interface ReportInput {
  readonly arms: readonly [Arm, ...Arm[]];
  readonly measured: MeasuredArms<Invocation>;
  readonly concurrency: readonly number[];
  readonly traffic: Workload;
  readonly exchangesOf: (arm: Arm) => readonly PlannedExchange[];
  readonly ratePerS: number;
  readonly seed: number;
  /** The command line that repeats the measurement. */
  readonly command: string;
  readonly tokens: StacksFile['tokens'];
  readonly leftOut: readonly string[];
  /** Ratios within 1 / (1 + margin) to 1 + margin count as equal. */
  readonly margin: number;
}

/** Builds the report and parses it as it is when read back from its file, so that all outputs agree. */
export function reportStacks(reported: ReportInput): StacksFile {
  const { arms, measured, traffic, exchangesOf, margin, concurrency } = reported;
  const figures = arms.flatMap((arm) => {
    const invocations = measured.invocations.get(arm.name) ?? [];
    return invocations.length === 0
      ? []
      : [computeArmFigures(arm, exchangesOf(arm), invocations, concurrency)];
  });
  const [baseline, ...others] = figures;
  if (baseline === undefined) throw new Error('the baseline was not measured');
  const nullSamples = collectSamples(measured.nullArm);
  const verdicts = judgeArms(
    baseline.samples,
    others.map(({ samples }) => samples),
    margin,
    nullSamples,
  );
  const [nullTest] = judgeArms(baseline.samples, [nullSamples], margin);
  const rows = figures.map((own, index) => {
    const vs = verdicts[index - 1];
    const bytesRatio = own.bytes.per_exchange / baseline.bytes.per_exchange;
    return {
      ...own,
      setup: { ...own.setup, ...computePayback(own, baseline) },
      vs_baseline: vs === undefined ? null : { ...vs, bytes_ratio: bytesRatio },
    };
  });
  const report = {
    kind: 'gaia-mesh-stacks',
    schema_version: 1,
    sentence: describeStacks(baseline.name, rows),
    command: reported.command,
    traffic: describeTraffic(traffic),
    seed: reported.seed,
    environment: describeEnvironment(packageVersion),
    margin,
    machine: measured.machine.map(({ load, stealMs, throttledMs, availableBytes }) => ({
      load,
      steal_ms: stealMs,
      throttled_ms: throttledMs,
      available_bytes: availableBytes,
    })),
    warnings: measured.warnings,
    rate_per_s: reported.ratePerS,
    baseline: baseline.name,
    null_test: { ...nullTest, setup: compareSetups(baseline, measured.nullArm) },
    arms: rows,
    tokens: reported.tokens,
    attributions: attributeArms(figures, margin),
    left_out: reported.leftOut,
    failed: measured.failed,
    invocations: baseline.invocations,
    lost_invocations: measured.lost,
    stopped: measured.stopped,
  };
  return parseStacks(JSON.stringify(report), 'comparison');
}

type Samples = StackArm['samples'];

/**
 * Judges all arms against the baseline; those of one figure are judged together. JSON's null is ∞.
 *
 * @param again the baseline's second arm, for the null test
 */
function judgeArms(baseline: Samples, others: readonly Samples[], margin: number, again?: Samples) {
  const judged = (figure: keyof Samples): readonly (JudgedComparison | null)[] => {
    const comparable = others.filter((own) => own[figure].length > 0 && baseline[figure].length > 0);
    const measured = comparable.map((own) => compareNestedSamples(baseline[figure], own[figure]));
    const isAgain = again !== undefined && again[figure].length > 0 && baseline[figure].length > 0;
    const nullArm = isAgain ? compareNestedSamples(baseline[figure], again[figure]) : undefined;
    const verdicts = judgeComparisons(measured, { margin, nullArm });
    return others.map((own) => verdicts[comparable.indexOf(own)] ?? null);
  };
  const [latency, cpu, saturated] = [judged('latency_us'), judged('cpu_us'), judged('saturated_us')];
  return others.map((_, index) => ({
    latency: latency[index] ?? null,
    cpu: cpu[index] ?? null,
    saturated: saturated[index] ?? null,
  }));
}

/** Compares the set-up of the baseline with that of its second arm. */
function compareSetups({ setup }: ArmFigures, again: readonly Invocation[]) {
  if (again.length !== setup.samples_ms.length) return null;
  const [before, after] = [setup.samples_ms, again.map((own) => own.setup.ms)];
  return compareNestedSamples(
    before.map((ms) => [ms]),
    after.map((ms) => [ms]),
    1,
  );
}

function describeTraffic({ source, exchanges }: Workload) {
  const packets = exchanges.flatMap(({ request, replies }) => [request, ...replies]);
  const sizes = packets.map(({ payload }) => Buffer.byteLength(JSON.stringify(payload)));
  return {
    source,
    exchanges: exchanges.length,
    packets: packets.length,
    payload_bytes: {
      smallest: Math.min(...sizes),
      median: Math.round(computeMedian(sizes)),
      largest: Math.max(...sizes),
    },
  };
}

/** Computes the number of exchanges after which a set-up that costs more than the baseline's has paid for itself. */
function computePayback(own: ArmFigures, baseline: ArmFigures) {
  const setupBytes = (arm: ArmFigures) => arm.setup.sent_bytes + arm.setup.received_bytes;
  const bytes = countExchangesUntil(
    setupBytes(own) - setupBytes(baseline),
    baseline.bytes.per_exchange - own.bytes.per_exchange,
  );
  const [ownUs, baseUs] = [own.latency_us?.p50, baseline.latency_us?.p50];
  const time =
    ownUs === undefined || baseUs === undefined
      ? null
      : countExchangesUntil((own.setup.ms - baseline.setup.ms) * 1000, baseUs - ownUs);
  return { paid_back_bytes: bytes, paid_back_time: time };
}

function countExchangesUntil(more: number, savedEach: number): number | null {
  if (more <= 0) return 0;
  return savedEach <= 0 ? null : Math.ceil(more / savedEach);
}
