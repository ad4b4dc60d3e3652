import type { Recording } from '@gaia-mesh/core/recording/recording.ts';
import { computeMedian } from '../../../statistics/inference/quantile.ts';
import { parseStacks, type StacksComparison } from '../../comparison-file.ts';
import type { MeasuredArms } from '../../experiment.ts';
import { describeExperiment, judgeArms } from '../../judged-arms.ts';
import { describeRecording } from '../../recording.ts';
import { formatVerdicts } from '../../verdict-text.ts';
import type { Arm } from '../arms.ts';
import type { Invocation } from '../invocation.ts';
import type { PlannedExchange } from '../peers/protocol.ts';
import type { Workload } from '../workload.ts';
import { type ArmFigures, collectSamples, computeArmFigures } from './arm-figures.ts';

interface ReportInput {
  readonly arms: readonly [Arm, ...Arm[]];
  readonly measured: MeasuredArms<Invocation>;
  readonly concurrency: readonly number[];
  readonly recording: Recording;
  readonly traffic: Workload;
  readonly exchangesOf: (arm: Arm) => readonly PlannedExchange[];
  readonly ratePerS: number;
  readonly seed: number;
  /** The command line that repeats the measurement. */
  readonly command: string;
  readonly leftOut: readonly string[];
  /** Ratios within 1 / (1 + margin) to 1 + margin count as equal. */
  readonly margin: number;
}

/** Builds the report and parses it as it is when read back from its file, so that all outputs agree. */
export function reportStacks(reported: ReportInput): StacksComparison {
  const { arms, measured, recording, traffic, exchangesOf, margin, concurrency } = reported;
  const figures = arms.flatMap((arm) => {
    const invocations = measured.invocations.get(arm.name) ?? [];
    return invocations.length === 0
      ? []
      : [computeArmFigures(arm, exchangesOf(arm), invocations, concurrency)];
  });
  const [baseline, ...others] = figures;
  if (baseline === undefined) throw new Error('the baseline was not measured');
  const judged = judgeArms([baseline, ...others], collectSamples(measured.nullArm), margin);
  const report = {
    kind: 'stacks',
    sentence: null,
    command: reported.command,
    ...describeRecording(recording),
    seed: reported.seed,
    ...describeExperiment(measured),
    ...judged,
    ...describeTraffic(traffic),
    left_out: reported.leftOut,
    rate_per_s: reported.ratePerS,
  };
  const file = parseStacks(JSON.stringify(report), 'comparison');
  return { ...file, sentence: formatVerdicts(file) };
}

function describeTraffic({ source, exchanges }: Workload) {
  const packets = exchanges.flatMap(({ request, replies }) => [request, ...replies]);
  const sizes = packets.map(({ payload }) => Buffer.byteLength(JSON.stringify(payload)));
  return {
    packets: packets.length,
    traffic: {
      source,
      exchanges: exchanges.length,
      payload_bytes: {
        smallest: Math.min(...sizes),
        median: Math.round(computeMedian(sizes)),
        largest: Math.max(...sizes),
      },
    },
  };
}
