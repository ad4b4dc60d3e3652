import type { StacksComparison } from '../../compare/comparison-file.ts';
import { formatInterval, formatName, METRIC_NAMES } from '../../compare/verdict-text.ts';
import { toOneLine } from '../../terminal/table.ts';
import { createTableView } from '../../terminal/table-view.ts';
import { bindNumbers, formatRatio } from '../wording.ts';
import { type StackedRow, type StackedView, stackParts } from './stacked-view.ts';

type Attributed = StacksComparison['attributions'][number];

/** Colours of the factors that there always are; settings take those that are left, in turn. */
const HUES: Readonly<Record<string, number>> = { protocol: 1, transport: 3, implementation: 4 };
const OTHER_HUES = [5, 6, 7, 2];

/** Builds the parts of protocol, transport, implementation and settings in each difference; null if nothing was attributed. */
export function buildAttributionView({ attributions, baseline }: StacksComparison): StackedView | null {
  const figures = [...Map.groupBy(attributions, ({ figure }) => figure)];
  if (figures.length === 0) return null;
  const factors = [...new Set(attributions.flatMap(({ shares }) => shares.map(({ factor }) => factor)))];
  const others = factors.filter((factor) => HUES[factor] === undefined);
  const hueOf = (factor: string) =>
    HUES[factor] ?? OTHER_HUES[others.indexOf(factor) % OTHER_HUES.length] ?? 0;
  return {
    finding: bindNumbers(describeContributions(attributions)),
    key: factors.map((factor) => ({ hue: hueOf(factor), name: toOneLine(factor, 40), what: '' })),
    choices: figures.map(([figure, own]) => ({
      name: METRIC_NAMES[figure],
      axis: `times the ${METRIC_NAMES[figure]} of ${formatName(baseline)}`,
      rows: own.map((one) => buildAttributionRow(one, hueOf)),
    })),
    scale: 'product',
    caption:
      `Shares multiply to the whole, the mark, on a logarithmic scale: to the right of 1× what takes more than with ${formatName(baseline)}, to the left what takes ` +
      'less. Faint: a share that cannot be told from none. Each share is what a change adds to those before it, over the orders of changes of which every step ' +
      'was measured. What was never changed one without the other has one share; add the stack that has the one without the other.',
    table: createTableView(
      ['', 'of', 'factor', 'change', '#share', '#95 % interval', 'verdict'],
      attributions.flatMap(buildTableRows),
    ),
  };
}

function buildAttributionRow(
  { arm, total, shares }: Attributed,
  hueOf: (factor: string) => number,
): StackedRow {
  const label = formatName(arm);
  const parts = shares.map(({ factor, from, to, share, verdict }) => ({
    name: toOneLine(factor, 40),
    hue: hueOf(factor),
    value: share.ratio,
    isSure: verdict === 'contributes',
    title: `${label}: ${toOneLine(`${factor} ${from} → ${to}`, 80)} ${formatRatio(share.ratio)} (${formatInterval(share)}), ${verdict}`,
  }));
  return { label, text: formatRatio(total.ratio), end: total.ratio, parts: stackParts(parts, 'product') };
}

function buildTableRows({ arm, figure, total, shares }: Attributed): string[][] {
  const start = [formatName(arm), METRIC_NAMES[figure]];
  return [
    [...start, 'whole', '', formatRatio(total.ratio), formatInterval(total), ''],
    ...shares.map(({ factor, from, to, share, verdict }) => [
      ...start,
      toOneLine(factor, 40),
      toOneLine(`${from} → ${to}`, 80),
      formatRatio(share.ratio),
      formatInterval(share),
      verdict,
    ]),
  ];
}

/** Describes the factors that contribute, and to how many differences. */
function describeContributions(attributions: readonly Attributed[]): string {
  const arms = new Set(attributions.map(({ arm }) => arm));
  const sure = attributions.flatMap(({ arm, shares }) =>
    shares.filter(({ verdict }) => verdict === 'contributes').map(({ factor }) => ({ arm, factor })),
  );
  const parts = [...Map.groupBy(sure, ({ factor }) => toOneLine(factor, 40))].map(
    ([factor, own]) => `${factor} of ${new Set(own.map(({ arm }) => arm)).size}`,
  );
  const of = `the differences of ${arms.size} ${arms.size === 1 ? 'stack' : 'stacks'}`;
  return parts.length === 0 ? `Of ${of}, no share can be told` : `A share in ${of}: ${parts.join(', ')}`;
}
