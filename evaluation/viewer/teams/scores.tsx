import type { BatchData, TeamFigures } from '../../report/batch-data.ts';
import type { Compared } from '../../results/paired-teams.ts';
import { count, formatDecimals, formatPercent, formatPoints } from '../../terminal/table.ts';
import { Forest, ForestAxis } from '../chart.tsx';
import { toLine, UNKNOWN } from '../format.ts';
import { Card } from '../parts.tsx';
import { type Column, createCount, ResultTable, readTone, Verdict } from '../result-table.tsx';

/** The share that each team has right, with intervals, and against the baseline. */
export function ScoreCard({ batch }: { readonly batch: BatchData }) {
  const { teams, baseline, pairs } = batch;
  const against = new Map(pairs.filter(({ base }) => base === baseline).map((pair) => [pair.other, pair]));
  const hasBaseline = teams.length > 1;
  const isScored = teams.some(({ summary }) => summary.accuracy !== null);
  const most = Math.min(1, Math.max(0.1, ...teams.map(({ summary }) => summary.high ?? 0)) * 1.05);
  const base = teams.find(({ name }) => name === baseline)?.summary.accuracy ?? null;
  const scale = {
    low: 0,
    high: most,
    isLog: false,
    zero: base ?? 0,
    ticks: [0, 0.25, 0.5, 0.75, 1].map((share) => share * most),
    format: (share: number) => formatPercent(share, 0),
  };
  const judge = ({ name }: TeamFigures) =>
    name === baseline ? 'baseline' : (against.get(name)?.judged.verdict ?? 'no question in common');
  const columns: Column<TeamFigures>[] = [
    { header: 'team', value: ({ name }) => toLine(name, 60) },
    {
      header: 'right',
      isNumber: true,
      value: ({ summary }) => (summary.accuracy === null ? null : summary.correct),
      cell: ({ summary }) =>
        summary.accuracy === null ? UNKNOWN : `${count(summary.correct)} / ${count(summary.scored)}`,
      explain: 'By GAIA’s official scorer; whatever failed, ran out of time or was not asked is wrong.',
    },
    ...(hasBaseline
      ? [
          {
            header: 'verdict',
            value: judge,
            cell: (team: TeamFigures) => <Verdict word={judge(team)} />,
            explain: `Against ${baseline} on the same questions. A difference is called where its interval does not reach 0, corrected for all comparisons that were declared before the run (Holm).`,
          },
        ]
      : []),
    ...(isScored
      ? [
          {
            header: 'accuracy and 95 % interval',
            axis: <ForestAxis scale={scale} />,
            isWide: true,
            value: ({ summary }: TeamFigures) =>
              summary.low === null || summary.high === null
                ? null
                : `${formatPercent(summary.low)} to ${formatPercent(summary.high)}`,
            cell: (team: TeamFigures) => {
              const { accuracy: at, low, high } = team.summary;
              if (at === null || low === null) return UNKNOWN;
              return <Forest scale={scale} interval={{ at, low, high }} tone={readTone(judge(team))} />;
            },
            explain: 'Dot: share of the questions; line: 95 % interval (Wilson). Dotted: the baseline.',
          },
        ]
      : []),
    {
      header: 'accuracy',
      isNumber: true,
      value: ({ summary }) => summary.accuracy,
      format: formatPercent,
      explain: 'Share of right answers among the questions whose true answer is known.',
    },
    {
      ...createCount(
        'lenient',
        ({ summary }) => (summary.accuracy === null ? null : summary.correct_lenient),
        'Right answers where quotes, articles, units and the like are forgiven.',
      ),
      isWide: true,
    },
    ...(hasBaseline ? listPairColumns<TeamFigures>(baseline, ({ name }) => against.get(name), pairs) : []),
  ];
  return (
    <Card
      title="Right answers"
      nav="Right answers"
      id="scores"
      about={
        hasBaseline
          ? `Each team is tested against ${baseline} on the questions that both were asked. That a difference cannot be told does not say that there is none.`
          : 'No other team was asked, so nothing is set against it: --team single,… does.'
      }
    >
      <ResultTable label="Right answers" rows={teams} columns={columns} />
    </Card>
  );
}

/** Lists what is told of two teams on the same questions. */
function listPairColumns<Row>(
  against: string,
  read: (row: Row) => Compared | undefined,
  all: readonly Compared[],
): Column<Row>[] {
  const most = Math.max(1, ...all.flatMap(({ won, lost }) => [won, lost]));
  return [
    {
      header: `points more than ${against}`,
      isNumber: true,
      value: (row) => read(row)?.judged.difference ?? null,
      format: formatPoints,
      cell: (row) => {
        const judged = read(row)?.judged;
        return judged === undefined
          ? UNKNOWN
          : `${formatPoints(judged.difference)} (${formatPoints(judged.low)} to ${formatPoints(judged.high)})`;
      },
      explain:
        'Percentage points, over all attempts, with Newcombe’s interval for pairs, corrected as the verdict is. Attempts at one question resemble each other and count as one value, so repeats narrow it less than more questions would.',
    },
    {
      header: 'lost · won',
      isWide: true,
      value: (row) => {
        const pair = read(row);
        return pair === undefined ? null : `${pair.won} : ${pair.lost}`;
      },
      cell: (row) => {
        const pair = read(row);
        return pair === undefined ? UNKNOWN : <Swing won={pair.won} lost={pair.lost} most={most} />;
      },
      explain: `Questions that only one of the two got right, or that it got right more often than ${against}.`,
    },
    {
      header: 'p',
      isNumber: true,
      isWide: true,
      value: (row) => read(row)?.judged.adjustedP ?? null,
      format: formatP,
      explain: 'Chance of such a difference between equal teams: two-sided, after Holm’s correction.',
    },
    {
      header: 'detects',
      isNumber: true,
      isWide: true,
      value: (row) => read(row)?.judged.detectable ?? null,
      format: (detectable) => formatDecimals(detectable * 100, 1),
      explain: 'The smallest difference in points that as many such questions detect in four of five runs.',
    },
  ];
}

function formatP(p: number): string {
  return p < 0.001 ? '<0.001' : p.toFixed(3);
}

function Swing({ won, lost, most }: { readonly won: number; readonly lost: number; readonly most: number }) {
  return (
    <span class="swing">
      <span>
        {count(lost)}
        <i class="lost" style={{ width: `${(lost / most) * 44}px` }} />
      </span>
      <span>
        <i class="won" style={{ width: `${(won / most) * 44}px` }} />
        {count(won)}
      </span>
    </span>
  );
}

interface PairRow {
  readonly team: string;
  readonly against: string;
  readonly pair: Compared;
}

/** Pairs of teams beyond those with the baseline, and each team against itself. */
export function PairsCard({ batch: { pairs, itself, baseline } }: { readonly batch: BatchData }) {
  const rows: PairRow[] = [
    ...pairs
      .filter(({ base }) => base !== baseline)
      .map((pair) => ({ team: pair.other, against: pair.base, pair })),
    ...itself.map(([team, pair]) => ({ team: `${team}, second attempts`, against: 'its first', pair })),
  ];
  if (rows.length === 0) return null;
  const columns: Column<PairRow>[] = [
    { header: 'team', value: ({ team }) => toLine(team, 60) },
    { header: 'against', value: ({ against }) => toLine(against, 60) },
    {
      header: 'verdict',
      value: ({ pair }) => pair.judged.verdict,
      cell: ({ pair }) => <Verdict word={pair.judged.verdict} />,
    },
    ...listPairColumns<PairRow>(
      'the other',
      ({ pair }) => pair,
      rows.map(({ pair }) => pair),
    ),
  ];
  return (
    <Card
      title="Further pairs"
      id="pairs"
      about="Verdicts are not transitive: a may be better than b, and c differ from neither. A team that differs from itself has learned, or it is luck."
    >
      <ResultTable label="Further pairs" rows={rows} columns={columns} />
    </Card>
  );
}

/** Kinds of questions that are shown: a file may name each question's own. */
const MAX_GROUPS = 40;

interface Group {
  readonly key: 'levels' | 'categories';
  readonly name: string;
}

/** Accuracy by level and by kind of question, a column a team; the shade is the accuracy. */
export function GroupsCard({ teams }: { readonly teams: readonly TeamFigures[] }) {
  const groups = [...listGroups(teams, 'levels'), ...listGroups(teams, 'categories')];
  if (groups.length === 0) return null;
  const columns: Column<Group>[] = [
    {
      header: 'questions',
      value: ({ key, name }) => toLine(key === 'levels' ? `level ${name}` : name, 60),
    },
    ...teams.map(({ name: team, summary }): Column<Group> => {
      const read = ({ key, name }: Group) => summary[key][name];
      return {
        header: toLine(team, 40),
        isNumber: true,
        value: (group) => read(group)?.accuracy ?? null,
        format: formatPercent,
        explain: `Right answers of ${toLine(team, 40)} among the questions of the row, by first attempts.`,
        cell: (group) => {
          const figures = read(group);
          if (figures === undefined || figures.accuracy === null) return UNKNOWN;
          const { accuracy, correct, scored, low, high } = figures;
          return (
            <span class="shade" style={{ '--share': `${Math.round(accuracy * 60)}%` }}>
              {`${count(correct)} of ${count(scored)}`}
              <small>{`${formatPercent(low ?? 0, 0)} to ${formatPercent(high ?? 1, 0)}`}</small>
            </span>
          );
        },
      };
    }),
  ];
  return (
    <Card
      title="Right answers by level and kind"
      id="groups"
      about="First attempts, with the 95 % interval of the accuracy; a stronger shade is a higher accuracy. Groups of a few questions tell little: look at the interval."
    >
      <ResultTable label="Right answers by level and kind" rows={groups} columns={columns} />
    </Card>
  );
}

/** Lists the levels or kinds of questions, the largest first; a single one would repeat the scores. */
function listGroups(teams: readonly TeamFigures[], key: Group['key']): Group[] {
  const sizes = new Map<string, number>();
  for (const { summary } of teams)
    for (const [name, { questions }] of Object.entries(summary[key])) sizes.set(name, questions);
  if (sizes.size < 2) return [];
  return [...sizes]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_GROUPS)
    .map(([name]) => ({ key, name }));
}
