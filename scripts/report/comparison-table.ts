import { count, decimals, oneLine } from '../terminal/table.ts';
import type { ComparedAdapter, ComparisonFigures } from './comparison-file.ts';
import { type TableView, tableView } from './table-view.ts';
import { ratioText } from './wording.ts';

/** What each adapter costs; `base` is the baseline's bytes. */
export function comparisonTable(
  file: ComparisonFigures,
  adapters: readonly ComparedAdapter[],
  base: number,
): TableView {
  const titles = [
    ...['adapter', '#bytes', '#ratio', '#header', '#session', '#tokens', '#coding µs', '#ms'],
    ...['#time', '#95 % interval', 'verdict'],
  ];
  return tableView(
    titles,
    adapters.map(({ adapter, ledger: { total }, vs_baseline, ...row }) => [
      nameOf(adapter),
      count(total.wire),
      againstText(total.wire, base),
      count(total.header_size),
      count(row.session_bytes),
      row.prompt_tokens === null ? '–' : count(row.prompt_tokens),
      count((row.encode_us + row.decode_us) / file.packets),
      decimals(row.latency_us.median / 1000, 2),
      vs_baseline === null ? '1.00×' : ratioText(vs_baseline.time.ratio),
      vs_baseline === null ? '–' : intervalText(vs_baseline.time),
      vs_baseline === null ? 'baseline' : vs_baseline.time.verdict,
    ]),
  );
}

export function againstText(bytes: number, base: number): string {
  return base === 0 ? '–' : ratioText(bytes / base);
}

export function intervalText({ low, high }: { low: number; high: number | null }): string {
  return high === null ? 'too few rounds' : `${decimals(low, 2)}–${decimals(high, 2)}`;
}

export function nameOf(adapter: string): string {
  return oneLine(adapter, 40);
}
