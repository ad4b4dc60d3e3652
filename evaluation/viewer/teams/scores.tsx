import type { BatchData, TeamFigures } from '../../report/batch-data.ts';
import { mapBaselinePairs } from '../../results/paired-teams.ts';
import { PAIR_COLUMNS, SCORE_COLUMNS } from '../../results/tables/score-columns.ts';
import { count, formatPercent } from '../../terminal/table.ts';
import { Forest, ForestAxis } from '../chart.tsx';
import { toLine, UNKNOWN } from '../format.ts';
import { Card } from '../parts.tsx';
import { type Column, ResultTable, readTone, toPageColumns } from '../result-table.tsx';

/** The share that each team has right, with intervals, and against the baseline. */
export function ScoreCard({ batch }: { readonly batch: BatchData }) {
  const { teams, baseline } = batch;
  const against = mapBaselinePairs(batch);
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
  const rows = teams.map(({ name, summary: figures }) => {
    const pair = against.get(name);
    const verdict = name === baseline ? 'baseline' : (pair?.judged.verdict ?? 'no question in common');
    return { team: toLine(name, 60), figures, pair, verdict };
  });
  type Row = (typeof rows)[number];
  const forest: Column<Row> = {
    header: 'accuracy and 95 % interval',
    axis: <ForestAxis scale={scale} />,
    isWide: true,
    value: () => '',
    cell: ({ figures: { accuracy: at, low, high }, verdict }) =>
      at === null || low === null ? (
        UNKNOWN
      ) : (
        <Forest scale={scale} interval={{ at, low, high }} tone={readTone(verdict)} />
      ),
    explain: 'Dot: share of the questions; line: 95 % interval (Wilson). Dotted: the baseline.',
  };
  const { team, right, accuracy, lenient } = SCORE_COLUMNS;
  const { verdict, difference, p, detects } = PAIR_COLUMNS;
  const columns = [
    // The verdict stands beside the name: a phone shows it without scrolling.
    ...toPageColumns<Row>(hasBaseline ? [team, right, verdict] : [team, right], rows),
    ...(isScored ? [forest] : []),
    // The interval is drawn.
    ...toPageColumns<Row>(
      [
        { ...accuracy, header: 'accuracy', format: ({ figures }) => formatPercent(figures.accuracy) },
        lenient,
      ],
      rows,
    ),
    ...(hasBaseline
      ? [
          ...toPageColumns<Row>([difference], rows),
          createSwingColumn(rows),
          ...toPageColumns<Row>([p, detects], rows),
        ]
      : []),
  ];
  return (
    <Card
      title="Right answers"
      nav="Right answers"
      id="scores"
      about={
        hasBaseline
          ? `Each team is tested against ${toLine(baseline, 60)} on the questions that both were asked. That a difference cannot be told does not say that there is none.`
          : 'No other team was asked, so nothing is set against it: --team single,… does.'
      }
    >
      <ResultTable label="Right answers" rows={rows} columns={columns} />
    </Card>
  );
}

interface Paired {
  readonly pair: { readonly won: number; readonly lost: number } | undefined;
}

/** The questions that only one of the two got right, as bars from the middle. */
function createSwingColumn<Row extends Paired>(rows: readonly Row[]): Column<Row> {
  const most = Math.max(1, ...rows.flatMap(({ pair }) => [pair?.won ?? 0, pair?.lost ?? 0]));
  return {
    header: 'lost · won',
    isWide: true,
    value: ({ pair }) => (pair === undefined ? null : `${pair.lost} · ${pair.won}`),
    cell: ({ pair }) => (pair === undefined ? UNKNOWN : <Swing {...pair} most={most} />),
    explain: 'Questions that only the other, or only this one got right, or got right more often.',
  };
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

/** Pairs of teams beyond those with the baseline, and each team against itself. */
export function PairsCard({ batch: { pairs, itself, baseline } }: { readonly batch: BatchData }) {
  const rows = [
    ...pairs
      .filter(({ base }) => base !== baseline)
      .map((pair) => ({ team: toLine(pair.other, 60), against: toLine(pair.base, 60), pair })),
    ...itself.map(([team, pair]) => ({
      team: `${toLine(team, 60)}, second attempts`,
      against: 'its first',
      pair,
    })),
  ].map((row) => ({ ...row, verdict: row.pair.judged.verdict }));
  if (rows.length === 0) return null;
  type Row = (typeof rows)[number];
  const { verdict, difference, p, detects } = PAIR_COLUMNS;
  const columns: Column<Row>[] = [
    { header: 'team', value: ({ team }) => team },
    { header: 'against', value: ({ against }) => against },
    ...toPageColumns<Row>([verdict, difference], rows),
    createSwingColumn(rows),
    ...toPageColumns<Row>([p, detects], rows),
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
