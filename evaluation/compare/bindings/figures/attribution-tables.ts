import { TOGETHER } from '../../../statistics/attribution.ts';
import { decimals } from '../../../terminal/table.ts';
import { type TableView, tableView } from '../../../terminal/table-view.ts';
import { FIGURE_NAMES } from './binding-attribution.ts';
import type { BindingsFile } from './bindings-file.ts';
import { intervalText, nameText } from './bindings-text.ts';

type Attributed = BindingsFile['attributions'][number];
type Share = Attributed['shares'][number];

/** Behind a share: shown to be within the margin, and not shown to be anything. */
const MARKS = { contributes: '', 'no share': '=', 'cannot tell': '?' } as const;

/** What makes the differences, a table for each figure: a row an arm, a column a factor, and one for factors that changed together only. */
export function attributionTables({ attributions }: BindingsFile): TableView[] {
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
      'binding',
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
