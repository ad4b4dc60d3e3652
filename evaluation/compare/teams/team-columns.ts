import { type Column, formatColumnsCsv } from '../../terminal/columns.ts';
import { count, formatPercent, formatPoints, formatShares } from '../../terminal/table.ts';
import { type ComparisonTables, createTable } from '../arm-columns.ts';
import type { RightVerdict, TeamsComparison } from '../comparison-file.ts';
import { formatDetectable, formatInterval, formatName, formatVerdict } from '../comparison-text.ts';

type TeamArm = TeamsComparison['arms'][number];

/** Columns of right answers of a team. */
const SCORE_COLUMNS = {
  team: { key: 'team', header: 'team', value: ({ name }) => name, format: ({ name }) => formatName(name) },
  right: {
    key: 'right',
    header: 'right',
    value: ({ accuracy, correct }) => (accuracy === null ? null : correct),
    format: ({ correct, scored }) => `${count(correct)} of ${count(scored)}`,
    explain:
      'answers that are right by GAIA’s official scorer, of the questions whose true answer is known; one that failed, ran out of time or was not asked counts as wrong',
  },
  accuracy: {
    key: 'accuracy',
    header: 'accuracy (95 % interval)',
    value: ({ accuracy }) => accuracy,
    format: (arm) => (arm.low === null ? '–' : `${formatPercent(arm.accuracy)} (${formatShares(arm)})`),
    explain: 'share of right answers, with Wilson’s interval',
  },
  lenient: {
    key: 'lenient',
    header: 'lenient',
    value: ({ accuracy, correct_lenient }) => (accuracy === null ? null : correct_lenient),
    explain: 'right answers where quotes, articles, units and the like are forgiven',
    rank: 1,
  },
} as const satisfies Readonly<Record<string, Column<TeamArm>>>;

/** Creates the columns of a verdict on right answers. */
function createRightColumns<Row>(find: (row: Row) => RightVerdict | null, missing: (row: Row) => string) {
  return {
    difference: {
      key: 'difference',
      header: 'difference (95 % interval)',
      value: (row) => find(row)?.difference,
      format: (row) => {
        const right = find(row);
        return right === null ? '–' : `${formatPoints(right.difference)} (${formatInterval(right)})`;
      },
      explain:
        'percentage points on the same questions, over all attempts, with Newcombe’s interval for pairs, corrected as the verdict is; attempts at one question resemble each other and count as one value, so repeats narrow it less than more questions would',
    },
    p: {
      key: 'p',
      header: 'p',
      value: (row) => find(row)?.adjustedP,
      format: (row) => formatP(find(row)?.adjustedP),
      explain: 'chance of such a difference between equal teams: two-sided, after Holm’s correction',
      rank: 1,
    },
    detects: {
      key: 'detects',
      header: 'detects',
      value: (row) => find(row)?.detectable,
      format: (row) => {
        const right = find(row);
        return right === null ? '–' : formatDetectable(right);
      },
      explain: 'the smallest difference in points that this number of questions detects in four of five runs',
      rank: 1,
    },
    verdict: {
      key: 'verdict',
      header: 'verdict',
      value: (row) => {
        const right = find(row);
        return right === null ? missing(row) : formatVerdict(right);
      },
      explain:
        'called where the interval does not reach 0, corrected for all comparisons that were declared before the run (Holm)',
    },
  } as const satisfies Readonly<Record<string, Column<Row>>>;
}

function formatP(p: number | undefined): string {
  if (p === undefined) return '–';
  return p < 0.001 ? '<0.001' : p.toFixed(3);
}

/** Right answers of each team, and their verdict against the baseline. */
export const TEAM_COLUMNS = {
  ...SCORE_COLUMNS,
  ...createRightColumns<TeamArm>(
    ({ vs_baseline: vs }) => vs?.right ?? null,
    ({ vs_baseline: vs }) => (vs === null ? 'baseline' : 'no question in common'),
  ),
};

/** Two teams that are no baseline, or one team's second attempts against its first. */
interface FurtherPair {
  readonly team: string;
  readonly against: string;
  readonly right: RightVerdict | null;
}

/** Columns of pairs of teams beyond those with the baseline. */
const FURTHER_COLUMNS = {
  team: { key: 'team', header: 'team', value: ({ team }: FurtherPair) => team },
  against: { key: 'against', header: 'against', value: ({ against }: FurtherPair) => against },
  ...createRightColumns<FurtherPair>(
    ({ right }) => right,
    () => 'no question in common',
  ),
};

/** Builds the table of pairs beyond those with the baseline, and of each team against itself, the baseline first. */
export function buildFurtherPairs({ arms, baseline, null_test, further_pairs }: TeamsComparison) {
  const again = [
    { name: baseline, right: null_test.right },
    ...arms.map(({ name, vs_itself }) => ({ name, right: vs_itself?.right ?? null })),
  ];
  const rows: FurtherPair[] = [
    ...further_pairs.map(({ base, other, right }) => ({
      team: formatName(other),
      against: formatName(base),
      right,
    })),
    ...again.flatMap(({ name, right }) =>
      right === null ? [] : [{ team: `${formatName(name)}, second attempts`, against: 'its first', right }],
    ),
  ];
  return { columns: FURTHER_COLUMNS, rows };
}

/** Builds the tables of a comparison of teams. */
export function buildTeamTables(file: TeamsComparison): ComparisonTables {
  const { arms } = file;
  const columns = Object.values<Column<TeamArm>>(arms.length > 1 ? TEAM_COLUMNS : SCORE_COLUMNS);
  const further = buildFurtherPairs(file);
  return {
    sections: [
      {
        heading: 'Right answers',
        tables: [createTable(columns, arms)],
        note: 'First attempts are counted; the difference to the baseline is over all attempts.',
        at: 'top',
      },
      {
        heading: 'Further pairs',
        tables:
          further.rows.length === 0
            ? []
            : [createTable(Object.values<Column<FurtherPair>>(further.columns), further.rows)],
        note: 'Verdicts are not transitive. A team that differs from itself has learned, or it is chance.',
        at: 'bottom',
      },
    ],
    csv: formatColumnsCsv(columns, arms),
    limits: [
      'The verdicts are about these questions and others of their kind. Other questions may give other verdicts.',
      'That a difference cannot be told does not say that there is none.',
      'Answers of a language model are samples: the same question may be answered differently tomorrow.',
    ],
    legend: 'right: by GAIA’s official scorer; difference: percentage points on the same questions',
  };
}
