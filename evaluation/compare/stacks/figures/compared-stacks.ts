import type { MeasuredMetric } from '../../../statistics/thresholds.ts';
import { count, decimals } from '../../../terminal/table.ts';
import { type TableView, tableView } from '../../../terminal/table-view.ts';
import type { Compared, Samples } from '../../conditions/compared.ts';
import type { StackArm, StacksFile } from './stacks-file.ts';
import { measuredText, nullText } from './stacks-table.ts';
import { intervalText, nameText, ratioText } from './stacks-text.ts';

/**
 * An arm is called as in the tables, without spaces: `a2a/jsonrpc:sdk`, and `a2a/jsonrpc:sdk:tls:on` with its levels. Bytes are of all
 * exchanges with an answer, times of an exchange at the fixed rate, `first` of the set-up.
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
        samples: (metric) => samplesOf(arm, metric),
      };
    }),
    margin,
    environment,
    same: {
      'the traffic': `${traffic.source}, ${traffic.exchanges} exchanges`,
      'the rate': rate_per_s,
      'the baseline': baseline,
    },
    said: {
      title: `Stacks on the same exchanges: ${arms.map(({ name }) => `\`${nameText(name)}\``).join(', ')}`,
      sentence: file.sentence,
      warnings: file.warnings,
      table: summaryTable(file),
      played: `${measuredText(file)}. ${nullText(file)}.`,
    },
  };
}

function samplesOf(arm: StackArm, metric: MeasuredMetric): Samples {
  switch (metric) {
    case 'time':
      return arm.samples.latency_us;
    case 'cpu':
      return arm.samples.cpu_us;
    case 'first':
      return arm.setup.samples_ms.map((ms) => [ms * 1000]);
  }
}

function summaryTable({ arms }: StacksFile): TableView {
  return tableView(
    ['stack', '#B', '#×', '#p50 µs', '#time ×', '#95 %', 'verdict', '#CPU ×'],
    arms.map(({ name, bytes, latency_us: times, vs_baseline: vs }) => {
      const time = vs?.latency ?? null;
      return [
        nameText(name),
        count(bytes.per_exchange),
        decimals(vs?.bytes_ratio ?? 1, 2),
        times === null ? '–' : count(times.p50),
        vs === null ? '1.00' : time === null ? '–' : decimals(time.ratio, 2),
        time === null ? '–' : intervalText(time),
        vs === null ? 'baseline' : (time?.verdict ?? 'rate too high'),
        vs === null ? '1.00' : ratioText(vs.cpu),
      ];
    }),
  );
}
