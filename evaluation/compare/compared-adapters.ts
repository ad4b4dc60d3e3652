import type { MeasuredMetric } from '../statistics/thresholds.ts';
import { count, decimals, oneLine } from '../terminal/table.ts';
import { type TableView, tableView } from '../terminal/table-view.ts';
import type { ComparedAdapter, ComparisonFile } from './comparison-file.ts';
import { bytesRatio, nullTestText, openText, playedText } from './comparison-table.ts';
import type { Compared, Samples } from './conditions/compared.ts';
import { intervalText, verdictText } from './verdict-text.ts';

export function comparedAdapters(file: ComparisonFile): Compared {
  const { adapters, margin, environment, run_id, packets, team, engine, agents, baseline } = file;
  const names = adapters.map(({ adapter }) => `\`${oneLine(adapter, 40)}\``);
  return {
    arms: adapters.map((row) => ({
      name: row.adapter,
      bytes: row.ledger.total.wire,
      header: row.ledger.total.header_size,
      samples: (metric) => samplesOf(row, metric),
    })),
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
      table: summaryTable(file),
      played: `${playedText(file)}. ${nullTestText(file)}.`,
    },
  };
}

function samplesOf(row: ComparedAdapter, metric: MeasuredMetric): Samples {
  switch (metric) {
    case 'time':
      return row.samples_us;
    case 'cpu':
      return row.samples_cpu_us ?? [];
    case 'first':
      return row.samples_first_us.map((us) => [us]);
  }
}

function summaryTable(file: ComparisonFile): TableView {
  return tableView(
    ['adapter', '#bytes', '#×', '#ms', '#time', '#95 %', 'verdict'],
    file.adapters.map((row) => {
      const time = row.vs_baseline?.time;
      return [
        oneLine(row.adapter, 40),
        count(row.ledger.total.wire),
        bytesRatio(row, file),
        decimals(row.latency_us.median / 1000, 2),
        time === undefined ? '1.00' : decimals(time.ratio, 2),
        time === undefined ? '–' : intervalText(time),
        time === undefined ? 'baseline' : verdictText(time),
      ];
    }),
  );
}
