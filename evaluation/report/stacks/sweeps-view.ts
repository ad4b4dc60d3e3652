import type { StackArm, StacksComparison } from '../../compare/comparison-file.ts';
import { computeKeptBytes } from '../../compare/stacks/figures/stack-columns.ts';
import { formatName } from '../../compare/verdict-text.ts';
import { count, formatDecimals } from '../../terminal/table.ts';
import { createTableView } from '../../terminal/table-view.ts';
import { EMPTY, type PanelsView } from '../panels-view.ts';
import { bindNumbers, formatBytes, formatMs, formatSpan } from '../wording.ts';
import { formatArmTitle } from './curves-view.ts';

/** The server's memory as one task grows; null where no task grew. */
export function buildGrowthPanels({ arms }: StacksComparison): PanelsView | null {
  const grown = arms.flatMap((arm) => (arm.growth === null ? [] : [{ ...arm, growth: arm.growth }]));
  if (grown.length === 0) return null;
  const kept = grown.map(({ growth }) => computeKeptBytes(growth) ?? 0);
  return {
    finding: bindNumbers(`Of each exchange of one task, the server keeps ${formatSpan(kept, formatBytes)}`),
    panels: grown.map(({ growth, ...arm }, index) => ({
      ...EMPTY,
      ...formatArmTitle(arm, `keeps ${formatBytes(kept[index] ?? 0)}`),
      line: growth.map(({ exchanges, heap_bytes }) => ({
        x: exchanges,
        y: heap_bytes / 1e6,
        title: `${count(exchanges)} exchanges: ${formatDecimals(heap_bytes / 1e6, 1)} MB`,
      })),
    })),
    x: { label: 'exchanges of the task', isLog: false, ticks: listTicks(grown[0]?.growth ?? []) },
    y: { label: 'MB of heap', isLog: false },
    caption:
      'Heap of the server after a collection, while one task gets more and more exchanges. Grey: the baseline. The axes are the same in all charts.',
    table: createTableView(
      ['', '#exchanges of the task', '#heap MB', '#RSS MB', '#ms of the last'],
      grown.flatMap(({ name, growth }) =>
        growth.map(({ exchanges, heap_bytes, rss_bytes, exchange_us }) => [
          formatName(name),
          count(exchanges),
          formatDecimals(heap_bytes / 1e6, 1),
          formatDecimals(rss_bytes / 1e6, 0),
          formatDecimals(exchange_us === null ? null : exchange_us / 1000, 2),
        ]),
      ),
    ),
  };
}

function listTicks(growth: NonNullable<StackArm['growth']>): number[] {
  return growth.length > 6 ? [] : growth.map(({ exchanges }) => exchanges);
}

/** From size to latency, where sizes were made arms; null with fewer than two. */
export function buildSizePanels({ arms }: StacksComparison): PanelsView | null {
  const sized = arms.flatMap(({ settings: { size }, latency_us: times, ...arm }) =>
    size === null || size === 0 || times === null ? [] : [{ ...arm, size, times }],
  );
  const sizes = [...new Set(sized.map(({ size }) => size))].toSorted((a, b) => a - b);
  if (sizes.length < 2) return null;
  const [smallest = 0, largest = 0] = [sizes[0], sizes.at(-1)];
  const groups = Map.groupBy(sized, ({ stack, implementation, levels: { size: _, ...levels } }) =>
    JSON.stringify([stack, implementation, levels]),
  );
  const pointsOf = (own: typeof sized, which: 'p50' | 'p99') =>
    own
      .toSorted((a, b) => a.size - b.size)
      .flatMap(({ size, times }) => {
        const us = times[which];
        return us === null
          ? []
          : [{ x: size, y: us / 1000, title: `${formatBytes(size)}: ${which} ${formatMs(us / 1000)}` }];
      });
  return {
    finding: bindNumbers(
      `Time of an exchange with payloads of ${formatBytes(smallest)} to ${formatBytes(largest)}`,
    ),
    panels: [...groups.values()].flatMap((own) => {
      const [first] = own;
      if (first === undefined) return [];
      const { size: _, ...levels } = first.levels;
      return [
        {
          ...EMPTY,
          ...formatArmTitle({ ...first, levels }, ''),
          line: pointsOf(own, 'p50'),
          upper: pointsOf(own, 'p99'),
        },
      ];
    }),
    x: { label: 'bytes of a payload', isLog: true, ticks: sizes.length > 5 ? null : sizes },
    y: { label: 'milliseconds', isLog: true },
    caption:
      'Strong line: half of the exchanges take at most this; thin line: 99 of 100 do. Grey: the first stack. Both axes are logarithmic, and the same in all ' +
      'charts. Which sizes differ from the baseline is said with the pairs.',
    table: createTableView(
      ['', '#bytes of a payload', '#p50 ms', '#p99 ms', '#B an exchange'],
      sized.map(({ name, size, times, bytes }) => [
        formatName(name),
        count(size),
        formatDecimals(times.p50 / 1000, 2),
        formatDecimals(times.p99 === null ? null : times.p99 / 1000, 2),
        count(bytes.per_exchange),
      ]),
    ),
  };
}
