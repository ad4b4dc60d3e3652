import type { MeasuredMetric } from '../statistics/thresholds.ts';
import { count, formatDecimals, toOneLine } from '../terminal/table.ts';
import { createTableView, type TableView } from '../terminal/table-view.ts';
import type { ComparedAdapter, ComparisonFile } from './comparison-file.ts';
import { describeNullTest, describePlayed, formatBytesRatio, openText } from './comparison-table.ts';
import type { Compared, Samples } from './conditions/compared.ts';
import { formatInterval, formatVerdict } from './verdict-text.ts';

export function toComparedAdapters(file: ComparisonFile): Compared {
  const { adapters, margin, environment, run_id, packets, team, engine, agents, baseline } = file;
  const names = adapters.map(({ adapter }) => `\`${toOneLine(adapter, 40)}\``);
  return {
    arms: adapters.map((row) => ({
      name: row.adapter,
      bytes: row.ledger.total.wire,
      header: row.ledger.total.header_size,
      samples: (metric) => pickSamples(row, metric),
    })),
    nullArm: (metric) => (metric === 'time' ? file.null_test : file.null_test[metric]),
    margin,
    environment,
    same: {
      'the recording': `${run_id}, ${packets} packets`,
      'the team': team,
      'the engine': engine,
      'the number of agents': agents,
      'the baseline': baseline,
    },
    said: {
      title: `Adapters on the same packets: ${names.join(', ')}`,
      sentence: file.sentence ?? openText(file) ?? '',
      warnings: file.warnings,
      table: buildSummaryTable(file),
      played: `${describePlayed(file)}. ${describeNullTest(file)}.`,
    },
  };
}

function pickSamples(row: ComparedAdapter, metric: MeasuredMetric): Samples {
  switch (metric) {
    case 'time':
      return row.samples_us;
    case 'cpu':
      return row.samples_cpu_us ?? [];
    case 'first':
      return row.samples_first_us.map((us) => [us]);
  }
}

function buildSummaryTable(file: ComparisonFile): TableView {
  return createTableView(
    ['adapter', '#bytes', '#×', '#ms', '#time', '#95 %', 'verdict'],
    file.adapters.map((row) => {
      const time = row.vs_baseline?.time;
      return [
        toOneLine(row.adapter, 40),
        count(row.ledger.total.wire),
        formatBytesRatio(
          row,
          file.adapters.find(({ adapter }) => adapter === file.baseline),
        ),
        formatDecimals(row.latency_us.median / 1000, 2),
        time === undefined ? '1.00' : formatDecimals(time.ratio, 2),
        time === undefined ? '–' : formatInterval(time),
        time === undefined ? 'baseline' : formatVerdict(time),
      ];
    }),
  );
}
