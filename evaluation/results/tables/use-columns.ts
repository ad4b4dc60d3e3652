import type { Column } from '../../terminal/columns.ts';
import { count, formatDecimals } from '../../terminal/table.ts';
import type { findKnownUse, ResourceUse } from '../figures.ts';

/** A row of costs: what the answers of a team took, in total or for each right answer. */
interface UseRow {
  readonly team: string;
  readonly taken: string;
  readonly use: ResourceUse;
  readonly isTotal: boolean;
}

/** Lists what a team's answers took, in total and for each right answer. */
export function listUseRows(
  team: string,
  { total, perRight }: ReturnType<typeof findKnownUse>,
  mark = '',
): UseRow[] {
  return [
    { team, taken: `in total${mark}`, use: total, isTotal: true },
    { team: '', taken: `per right answer${mark}`, use: perRight, isTotal: false },
  ];
}

/** Columns of the resources that answers took, on the terminal, on result pages and in the viewer. */
export const USE_COLUMNS: readonly Column<UseRow>[] = [
  { key: 'team', header: 'team', value: ({ team }) => team },
  { key: 'taken', header: 'taken', value: ({ taken }) => taken },
  createUseColumn('tokens', 'tokens of prompts and replies, by the servers’ own counts where they gave them'),
  {
    key: 'cost',
    header: 'cost $',
    value: ({ use }) => use.cost,
    digits: 4,
    explain: 'US dollars, by the prices of the models',
  },
  createUseColumn('packets', 'packets that the hub received from agents and passed on'),
  createUseColumn('bytes', 'bytes of packets that the hub read and wrote, copies included'),
  {
    key: 'seconds',
    header: 'seconds',
    value: ({ use }) => use.seconds,
    digits: 2,
    explain: 'seconds of all questions from the broadcast to the answer, each by its own clock',
  },
];

/** Creates a column of whole numbers; small means are shown with one decimal. */
function createUseColumn(key: 'tokens' | 'packets' | 'bytes', explain: string): Column<UseRow> {
  return {
    key,
    header: key,
    explain,
    value: ({ use }) => use[key],
    format({ use, isTotal }) {
      const value = use[key];
      return value === null || (!isTotal && value < 100) ? formatDecimals(value, 1) : count(value);
    },
  };
}
