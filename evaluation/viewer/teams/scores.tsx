import type { RightVerdict, TeamsComparison } from '../../compare/comparison-file.ts';
import { buildFurtherPairs, TEAM_COLUMNS } from '../../compare/teams/team-columns.ts';
import type { TeamFigures } from '../../report/batch-data.ts';
import { count, formatPercent } from '../../terminal/table.ts';
import { Forest, ForestAxis } from '../chart.tsx';
import { toLine, UNKNOWN } from '../format.ts';
import { Card } from '../parts.tsx';
import { type Column, ResultTable, readTone, toPageColumns } from '../result-table.tsx';

/** The share of right answers of each team, with its interval and its difference to the baseline. */
export function ScoreCard({ file }: { readonly file: TeamsComparison }) {
  const { arms, baseline } = file;
  const hasBaseline = arms.length > 1;
  const isScored = arms.some(({ accuracy }) => accuracy !== null);
  const most = Math.min(1, Math.max(0.1, ...arms.map(({ high }) => high ?? 0)) * 1.05);
  const base = arms.find(({ name }) => name === baseline)?.accuracy ?? null;
  const scale = {
    low: 0,
    high: most,
    isLog: false,
    zero: base ?? 0,
    ticks: [0, 0.25, 0.5, 0.75, 1].map((share) => share * most),
    format: (share: number) => formatPercent(share, 0),
  };
  const { team, right, accuracy, lenient, verdict, difference, p, detects } = TEAM_COLUMNS;
  const forest: Column<(typeof arms)[number]> = {
    header: 'accuracy and 95 % interval',
    axis: <ForestAxis scale={scale} />,
    isWide: true,
    value: () => '',
    cell: (arm) => {
      const { accuracy: at, low, high } = arm;
      return at === null || low === null ? (
        UNKNOWN
      ) : (
        <Forest scale={scale} interval={{ at, low, high }} tone={readTone(verdict.value(arm))} />
      );
    },
    explain: 'Dot: share of the questions; line: 95 % interval (Wilson). Dotted: the baseline.',
  };
  const columns = [
    // The verdict stands beside the name, where a phone shows it without scrolling.
    ...toPageColumns<(typeof arms)[number]>(hasBaseline ? [team, right, verdict] : [team, right], arms),
    ...(isScored ? [forest] : []),
    // The forest plot shows the interval, so that the column has only the accuracy.
    ...toPageColumns<(typeof arms)[number]>(
      [{ ...accuracy, header: 'accuracy', format: (arm) => formatPercent(arm.accuracy) }, lenient],
      arms,
    ),
    ...(hasBaseline
      ? [
          ...toPageColumns<(typeof arms)[number]>([difference], arms),
          createSwingColumn(arms, ({ vs_baseline: vs }) => vs?.right ?? null),
          ...toPageColumns<(typeof arms)[number]>([p, detects], arms),
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
      <ResultTable label="Right answers" rows={arms} columns={columns} />
    </Card>
  );
}

/** Creates a column of the questions that only one of two teams got right, as bars from the middle. */
function createSwingColumn<Row>(rows: readonly Row[], find: (row: Row) => RightVerdict | null): Column<Row> {
  const most = Math.max(1, ...rows.flatMap((row) => [find(row)?.won ?? 0, find(row)?.lost ?? 0]));
  return {
    header: 'lost · won',
    isWide: true,
    value: (row) => {
      const right = find(row);
      return right === null ? null : `${right.lost} · ${right.won}`;
    },
    cell: (row) => {
      const right = find(row);
      return right === null ? UNKNOWN : <Swing won={right.won} lost={right.lost} most={most} />;
    },
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
export function PairsCard({ file }: { readonly file: TeamsComparison }) {
  const { columns: all, rows } = buildFurtherPairs(file);
  if (rows.length === 0) return null;
  const { team, against, verdict, difference, p, detects } = all;
  const columns = [
    ...toPageColumns<(typeof rows)[number]>([team, against, verdict, difference], rows),
    createSwingColumn(rows, ({ right }) => right),
    ...toPageColumns<(typeof rows)[number]>([p, detects], rows),
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

/** Maximum kinds of questions that are shown: a file may name a different kind for each question. */
const MAX_GROUPS = 40;

interface Group {
  readonly key: 'levels' | 'categories';
  readonly name: string;
}

/** Accuracy by level and by kind of question, with a column for each team. The shade of a cell shows its accuracy. */
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
