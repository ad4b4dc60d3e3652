import { attribute } from '../../../statistics/attribution.ts';
import { MIN_INVOCATIONS } from '../../../statistics/levels.ts';
import { decimals } from '../../../terminal/table.ts';
import type { BindingsFile } from './bindings-file.ts';
import { intervalText } from './bindings-text.ts';
import { type ArmCell, cellsOf } from './cells.ts';

type Attributed = BindingsFile['attributions'][number];

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

/** What a figure is of, for people. */
export const FIGURE_NAMES = {
  latency_us: 'time',
  cpu_us: 'CPU time',
  saturated_us: 'time when saturated',
} as const;

/** `a2a/jsonrpc sdk, CPU time 3.10 times: implementation bare → sdk 1.70 (1.62–1.79), …` */
export function attributionText({ arm, figure, total, shares }: Attributed): string {
  const parts = shares.map(({ factor, from, to, share, verdict }) => {
    const shown = `${factor} ${from} → ${to} ${decimals(share.ratio, 2)} (${intervalText(share)})`;
    return verdict === 'contributes' ? shown : `${shown}, ${verdict}`;
  });
  return `${arm}, ${FIGURE_NAMES[figure]} ${decimals(total.ratio, 2)} times: ${parts.join('; ')}`;
}
