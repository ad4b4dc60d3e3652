import type { MeasuredMetric } from '../../../statistics/thresholds.ts';
import { count, formatDecimals } from '../../../terminal/table.ts';
import { createTableView, type TableView } from '../../../terminal/table-view.ts';
import type { Compared, Samples } from '../../conditions/compared.ts';
import type { StackArm, StacksFile } from './stacks-file.ts';
import { describeMeasurement, describeNullTest } from './stacks-table.ts';
import { formatInterval, formatName, formatVerdictRatio } from './stacks-text.ts';

/**
 * Converts a comparison of stacks for conditions. Arms have their names from the tables without spaces: `a2a/jsonrpc:sdk`, and
 * `a2a/jsonrpc:sdk:tls:on` with levels. Bytes are those of all exchanges with an answer, times those of an exchange at the fixed rate, and
 * `first` is the set-up.
 */
export function toComparedStacks(file: StacksFile): Compared {
  const { arms, margin, environment, traffic, rate_per_s, baseline } = file;
  return {
    arms: arms.map((arm) => {
      const { sent, received } = arm.bytes;
      const bytes = sent.raw + received.raw;
      return {
        name: arm.name.replaceAll(/[ =]/g, ':'),
        bytes,
        header: bytes - sent.payload - received.payload,
        samples: (metric) => pickSamples(arm, metric),
      };
    }),
    nullArm: (metric) => file.null_test[NULL_FIGURES[metric]],
    margin,
    environment,
    same: {
      'the traffic': `${traffic.source}, ${traffic.exchanges} exchanges`,
      'the rate': rate_per_s,
      'the baseline': baseline,
    },
    said: {
      title: `Stacks on the same exchanges: ${arms.map(({ name }) => `\`${formatName(name)}\``).join(', ')}`,
      sentence: file.sentence,
      warnings: file.warnings,
      table: buildSummaryTable(file),
      played: `${describeMeasurement(file)}. ${describeNullTest(file)}.`,
    },
  };
}

const NULL_FIGURES = { time: 'latency', cpu: 'cpu', first: 'setup' } as const;

function pickSamples(arm: StackArm, metric: MeasuredMetric): Samples {
  switch (metric) {
    case 'time':
      return arm.samples.latency_us;
    case 'cpu':
      return arm.samples.cpu_us;
    case 'first':
      return arm.setup.samples_ms.map((ms) => [ms * 1000]);
  }
}

function buildSummaryTable({ arms }: StacksFile): TableView {
  return createTableView(
    ['stack', '#B', '#×', '#p50 µs', '#time ×', '#95 %', 'verdict', '#CPU ×'],
    arms.map(({ name, bytes, latency_us: times, vs_baseline: vs }) => {
      const time = vs?.latency ?? null;
      return [
        formatName(name),
        count(bytes.per_exchange),
        formatDecimals(vs?.bytes_ratio ?? 1, 2),
        times === null ? '–' : count(times.p50),
        vs === null ? '1.00' : time === null ? '–' : formatDecimals(time.ratio, 2),
        time === null ? '–' : formatInterval(time),
        vs === null ? 'baseline' : (time?.verdict ?? 'rate too high'),
        vs === null ? '1.00' : formatVerdictRatio(vs.cpu),
      ];
    }),
  );
}
