import { attribute, TOGETHER } from '../../../statistics/attribution.ts';
import { MIN_INVOCATIONS } from '../../../statistics/levels.ts';
import { decimals } from '../../../terminal/table.ts';
import { type TableView, tableView } from '../../../terminal/table-view.ts';
import { type ArmCell, cellsOf } from './cells.ts';
import type { StacksFile } from './stacks-file.ts';
import { FIGURE_NAMES, intervalText, nameText } from './stacks-text.ts';

type Attributed = StacksFile['attributions'][number];
type Share = Attributed['shares'][number];

const FIGURES = ['latency_us', 'cpu_us', 'saturated_us'] as const;
/** Probability of blaming any factor of an arm unjustly, in any of the figures. */
const ALPHA = 0.01 / FIGURES.length;

/**
 * Of every arm's difference from the baseline, how much is protocol, transport, implementation and setting: where more than one of them is
 * another, and the arms between them tell some apart. JSON's null is ∞.
 */
export function attributionsOf(arms: Parameters<typeof cellsOf>[0], margin: number) {
  return FIGURES.flatMap((figure) => {
    const cells = cellsOf(arms, figure);
    const baseline = cells.find(({ name }) => name === arms[0]?.name);
    if (baseline === undefined || baseline.samples.length < MIN_INVOCATIONS) return [];
    return cells.flatMap((cell) => {
      const changed = Object.keys(cell.levels).filter((name) => cell.levels[name] !== baseline.levels[name]);
      if (changed.length < 2) return [];
      const attributed = attributionOf(cells, baseline, cell, figure, margin);
      return attributed.shares.length < 2 ? [] : [attributed];
    });
  });
}

function attributionOf(
  cells: readonly ArmCell[],
  baseline: ArmCell,
  { name, levels }: ArmCell,
  figure: Attributed['figure'],
  margin: number,
) {
  const { total, shares, method } = attribute(cells, {
    from: baseline.levels,
    to: levels,
    margin,
    alpha: ALPHA,
  });
  return {
    arm: name,
    figure,
    method,
    total: { ratio: total.ratio, low: total.low, high: total.high },
    shares: shares.map(({ factor, from, to, share, verdict }) => ({
      factor,
      from,
      to,
      verdict,
      share: { ratio: share.ratio, low: share.low, high: share.high },
    })),
  };
}

/** `a2a/jsonrpc sdk, CPU time 3.10 times: implementation bare → sdk 1.70 (1.62–1.79), …` */
export function attributionText({ arm, figure, total, shares }: Attributed): string {
  const parts = shares.map(({ factor, from, to, share, verdict }) => {
    const shown = `${factor} ${from} → ${to} ${decimals(share.ratio, 2)} (${intervalText(share)})`;
    return verdict === 'contributes' ? shown : `${shown}, ${verdict}`;
  });
  return `${arm}, ${FIGURE_NAMES[figure]} ${decimals(total.ratio, 2)} times: ${parts.join('; ')}`;
}

/** Behind a share: shown to be within the margin, and not shown to be anything. */
const MARKS = { contributes: '', 'no share': '=', 'cannot tell': '?' } as const;

/** What makes the differences, a table for each figure: a row an arm, a column a factor, and one for factors that changed together only. */
export function attributionTables({ attributions }: StacksFile): TableView[] {
  return [...Map.groupBy(attributions, ({ figure }) => figure)].map(([figure, own]) => {
    const factors = [...new Set(own.flatMap(({ shares }) => shares.map(({ factor }) => factor)))].toSorted(
      (a, b) => a.split(TOGETHER).length - b.split(TOGETHER).length || (a < b ? -1 : 1),
    );
    const rows = own.map(({ arm, total, shares }) => [
      nameText(arm),
      decimals(total.ratio, 2),
      ...factors.map((factor) => shareText(shares.find((share) => share.factor === factor))),
    ]);
    const titles = [
      'stack',
      `#${FIGURE_NAMES[figure]} ×`,
      ...factors.map((factor) => `#${nameText(factor)}`),
    ];
    return tableView(titles, rows);
  });
}

function shareText(own: Share | undefined): string {
  if (own === undefined) return '';
  return `${decimals(own.share.ratio, 2)}${MARKS[own.verdict]} (${intervalText(own.share)})`;
}
