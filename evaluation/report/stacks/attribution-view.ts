import type { StacksFile } from '../../compare/stacks/figures/stacks-file.ts';
import { FIGURE_NAMES, nameText } from '../../compare/stacks/figures/stacks-text.ts';
import { intervalText } from '../../compare/verdict-text.ts';
import { oneLine } from '../../terminal/table.ts';
import { tableView } from '../../terminal/table-view.ts';
import { bound, ratioText } from '../wording.ts';
import { type StackedRow, type StackedView, stacked } from './stacked-view.ts';

type Attributed = StacksFile['attributions'][number];

/** Colours of the factors that there always are; settings take those that are left, in turn. */
const HUES: Readonly<Record<string, number>> = { protocol: 1, transport: 3, implementation: 4 };
const OTHER_HUES = [5, 6, 7, 2];

/** How much of each difference is protocol, transport, implementation and setting; null where nothing was attributed. */
export function attributionView({ attributions, baseline }: StacksFile): StackedView | null {
  const figures = [...Map.groupBy(attributions, ({ figure }) => figure)];
  if (figures.length === 0) return null;
  const factors = [...new Set(attributions.flatMap(({ shares }) => shares.map(({ factor }) => factor)))];
  const others = factors.filter((factor) => HUES[factor] === undefined);
  const hueOf = (factor: string) =>
    HUES[factor] ?? OTHER_HUES[others.indexOf(factor) % OTHER_HUES.length] ?? 0;
  return {
    finding: bound(findingOf(attributions)),
    key: factors.map((factor) => ({ hue: hueOf(factor), name: oneLine(factor, 40), what: '' })),
    choices: figures.map(([figure, own]) => ({
      name: FIGURE_NAMES[figure],
      axis: `times the ${FIGURE_NAMES[figure]} of ${nameText(baseline)}`,
      rows: own.map((one) => rowOf(one, hueOf)),
    })),
    scale: 'product',
    caption:
      `Shares multiply to the whole, the mark, on a logarithmic scale: to the right of 1× what takes more than with ${nameText(baseline)}, to the left what takes ` +
      'less. Faint: a share that cannot be told from none. Each share is what a change adds to those before it, over the orders of changes of which every step ' +
      'was measured. What was never changed one without the other has one share; add the stack that has the one without the other.',
    table: tableView(
      ['', 'of', 'factor', 'change', '#share', '#95 % interval', 'verdict'],
      attributions.flatMap(tableRows),
    ),
  };
}

function rowOf({ arm, total, shares }: Attributed, hueOf: (factor: string) => number): StackedRow {
  const label = nameText(arm);
  const parts = shares.map(({ factor, from, to, share, verdict }) => ({
    name: oneLine(factor, 40),
    hue: hueOf(factor),
    value: share.ratio,
    isSure: verdict === 'contributes',
    title: `${label}: ${oneLine(`${factor} ${from} → ${to}`, 80)} ${ratioText(share.ratio)} (${intervalText(share)}), ${verdict}`,
  }));
  return { label, text: ratioText(total.ratio), end: total.ratio, parts: stacked(parts, 'product') };
}

function tableRows({ arm, figure, total, shares }: Attributed): string[][] {
  const start = [nameText(arm), FIGURE_NAMES[figure]];
  return [
    [...start, 'whole', '', ratioText(total.ratio), intervalText(total), ''],
    ...shares.map(({ factor, from, to, share, verdict }) => [
      ...start,
      oneLine(factor, 40),
      oneLine(`${from} → ${to}`, 80),
      ratioText(share.ratio),
      intervalText(share),
      verdict,
    ]),
  ];
}

/** Which factors were seen to contribute, of how many differences. */
function findingOf(attributions: readonly Attributed[]): string {
  const arms = new Set(attributions.map(({ arm }) => arm));
  const sure = attributions.flatMap(({ arm, shares }) =>
    shares.filter(({ verdict }) => verdict === 'contributes').map(({ factor }) => ({ arm, factor })),
  );
  const parts = [...Map.groupBy(sure, ({ factor }) => oneLine(factor, 40))].map(
    ([factor, own]) => `${factor} of ${new Set(own.map(({ arm }) => arm)).size}`,
  );
  const of = `the differences of ${arms.size} ${arms.size === 1 ? 'stack' : 'stacks'}`;
  return parts.length === 0 ? `Of ${of}, no share can be told` : `A share in ${of}: ${parts.join(', ')}`;
}
