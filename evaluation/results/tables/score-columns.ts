import type { Column } from '../../terminal/columns.ts';
import { count, formatDecimals, formatPercent, formatPoints } from '../../terminal/table.ts';
import type { Figures } from '../figures.ts';
import type { Compared } from '../paired-teams.ts';

/** A team's right answers. */
interface ScoreRow {
  readonly team: string;
  readonly figures: Figures;
}

/** Two teams on the same questions, or one team against itself. */
interface PairRow {
  /** The comparison; undefined for the baseline, and where no question is in common. */
  readonly pair: Compared | undefined;
  /** The verdict, or the reason why there is none. */
  readonly verdict: string;
}

/** Columns of right answers, on result pages and in the viewer. */
export const SCORE_COLUMNS = {
  team: { key: 'team', header: 'team', value: ({ team }) => team },
  right: {
    key: 'right',
    header: 'right',
    value: ({ figures }) => (figures.accuracy === null ? null : figures.correct),
    format: ({ figures }) => `${count(figures.correct)} of ${count(figures.scored)}`,
    explain:
      'answers that are right by GAIA’s official scorer, of the questions whose true answer is known; whatever failed, ran out of time or was not asked is wrong',
  },
  accuracy: {
    key: 'accuracy',
    header: 'accuracy (95 % interval)',
    value: ({ figures }) => figures.accuracy,
    format: ({ figures }) =>
      figures.low === null ? '–' : `${formatPercent(figures.accuracy)} (${formatInterval(figures)})`,
    explain: 'share of right answers, with Wilson’s interval',
  },
  lenient: {
    key: 'lenient',
    header: 'lenient',
    value: ({ figures }) => (figures.accuracy === null ? null : figures.correct_lenient),
    explain: 'right answers where quotes, articles, units and the like are forgiven',
    rank: 1,
  },
} as const satisfies Readonly<Record<string, Column<ScoreRow>>>;

/** Columns of comparisons of teams, on result pages and in the viewer. */
export const PAIR_COLUMNS = {
  difference: {
    key: 'difference',
    header: 'difference (95 % interval)',
    value: ({ pair }) => pair?.judged.difference,
    format: ({ pair }) => {
      if (pair === undefined) return '–';
      const { difference, low, high } = pair.judged;
      return `${formatPoints(difference)} (${formatPoints(low)} to ${formatPoints(high)})`;
    },
    explain:
      'percentage points on the same questions, over all attempts, with Newcombe’s interval for pairs, corrected as the verdict is; attempts at one question resemble each other and count as one value, so repeats narrow it less than more questions would',
  },
  p: {
    key: 'p',
    header: 'p',
    value: ({ pair }) => pair?.judged.adjustedP,
    format: ({ pair }) => (pair === undefined ? '–' : formatP(pair.judged.adjustedP)),
    explain: 'chance of such a difference between equal teams: two-sided, after Holm’s correction',
    rank: 1,
  },
  detects: {
    key: 'detects',
    header: 'detects',
    value: ({ pair }) => pair?.judged.detectable,
    format: ({ pair }) => formatDetectable(pair?.judged.detectable ?? null),
    explain: 'the smallest difference in points that as many such questions detect in four of five runs',
    rank: 1,
  },
  verdict: {
    key: 'verdict',
    header: 'verdict',
    value: ({ verdict }) => verdict,
    explain:
      'called where the interval does not reach 0, corrected for all comparisons that were declared before the run (Holm)',
  },
} as const satisfies Readonly<Record<string, Column<PairRow>>>;

export function formatInterval({
  low,
  high,
}: {
  readonly low: number | null;
  readonly high: number | null;
}): string {
  return low === null || high === null ? '–' : `${(low * 100).toFixed(1)}–${formatPercent(high)}`;
}

function formatP(p: number): string {
  return p < 0.001 ? '<0.001' : p.toFixed(3);
}

/** Formats the smallest difference that the questions can show, in percentage points: `12.5`; `–` if they can show none. */
export function formatDetectable(detectable: number | null): string {
  return detectable === null ? '–' : formatDecimals(100 * detectable, 1);
}
