import { useMemo, useState } from 'preact/hooks';
import type { RightVerdict, TeamsComparison } from '../../compare/comparison-file.ts';
import { describeNullTest, describePlayed } from '../../compare/comparison-text.ts';
import { buildFurtherPairs, TEAM_COLUMNS } from '../../compare/teams/team-columns.ts';
import type { BatchData } from '../../report/page-data.ts';
import { listUseRows, USE_COLUMNS } from '../../results/tables/use-columns.ts';
import { count, formatPercent } from '../../terminal/table.ts';
import { Bar, createForestColumn } from '../chart.tsx';
import { toLine, UNKNOWN } from '../format.ts';
import { Card, Choice, Notes, Title } from '../parts.tsx';
import { QuestionsCard, sortQuestions } from '../questions.tsx';
import { type Column, ResultTable, readTone } from '../result-table.tsx';
import { describeFinding } from './finding.ts';
import { TeamFigureCards } from './team-figures.tsx';

interface TeamsPageProps {
  readonly file: TeamsComparison;
  /** Questions, answers and their cost, which `comparison.json` lacks. */
  readonly batch?: BatchData;
}

type TeamArm = TeamsComparison['arms'][number];

/** The page of teams on the same questions: how often each is right, on which questions, and at what cost. */
export function TeamsPage({ file, batch }: TeamsPageProps) {
  const { arms, command, measured_at, environment, warnings } = file;
  const engines = new Set(arms.map(({ engine, model }) => toLine(`${engine} ${model ?? ''}`, 60)));
  return (
    <>
      <Title
        title={describeFinding(file)}
        lede={`${describePlayed(file)}. Right means right by GAIA’s official scorer; a question that failed, ran out of time or was not asked counts as wrong.`}
        command={command}
        when={measured_at}
        made={[
          `engine ${[...engines].join(', ')}`,
          environment.machine,
          `Gaia Mesh ${environment.gaia_mesh}`,
        ]}
      />
      <Notes texts={warnings.map((warning) => `Warning: ${warning}.`)} />
      <div class="grid">
        <ScoreCard file={file} />
        {batch === undefined ? null : <BatchQuestions batch={batch} />}
        <PairsCard file={file} />
        {batch === undefined ? null : (
          <>
            <CostCard teams={batch.teams} />
            <TeamFigureCards teams={batch.teams} />
          </>
        )}
      </div>
    </>
  );
}

function BatchQuestions({ batch }: { readonly batch: BatchData }) {
  const { cyclesShown, questions, attempts, notes } = batch;
  const teams = batch.teams.map(({ name }) => name);
  const [cycle, setCycle] = useState(1);
  const [opened, setOpened] = useState<string | null>(null);
  const rows = useMemo(() => {
    const own = Map.groupBy(
      attempts.filter((attempt) => attempt.cycle === cycle),
      ({ task_id }) => task_id,
    );
    return sortQuestions(
      questions.map(({ task_id: id, question, truths, level, category, file_name }) => ({
        id,
        question,
        truth: truths.length === 0 ? null : truths.join(' | '),
        about: [level === undefined ? '' : `level ${level}`, category, file_name].filter(Boolean).join(' · '),
        answers: teams.map((team) => own.get(id)?.find((attempt) => attempt.team === team)),
      })),
    );
  }, [batch, cycle]);
  return (
    <QuestionsCard
      teams={teams}
      rows={rows}
      opened={opened}
      onOpen={setOpened}
      about={[
        'Those that the fewest teams got right come first. Open one to read it, and what each team made of it.',
        ...notes,
      ].join(' ')}
      tools={
        cyclesShown < 2 ? undefined : (
          <Choice
            label="Cycle"
            names={Array.from({ length: cyclesShown }, (_, index) =>
              index === 0 ? 'first attempts' : `cycle ${index + 1}`,
            )}
            chosen={cycle - 1}
            onChoice={(index) => setCycle(index + 1)}
          />
        )
      }
    />
  );
}

/** The share of right answers of each team, with its interval and its difference to the baseline. */
function ScoreCard({ file }: { readonly file: TeamsComparison }) {
  const { arms, baseline } = file;
  const hasBaseline = arms.length > 1;
  const most = Math.min(1, Math.max(0.1, ...arms.map(({ high }) => high ?? 0)) * 1.05);
  const scale = {
    low: 0,
    high: most,
    isLog: false,
    zero: arms.find(({ name }) => name === baseline)?.accuracy ?? 0,
    ticks: [0, 0.25, 0.5, 0.75, 1].map((share) => share * most),
    format: (share: number) => formatPercent(share, 0),
  };
  const { team, right, lenient, verdict, difference, p, detects } = TEAM_COLUMNS;
  const forest = createForestColumn<TeamArm>(
    'accuracy and 95 % interval',
    scale,
    (arm) => {
      const { accuracy: at, low, high } = arm;
      return at === null || low === null ? null : { at, low, high, tone: readTone(verdict.value(arm)) };
    },
    'Dot: share of the questions; line: 95 % interval (Wilson). Dotted: the baseline.',
  );
  const columns: Column<TeamArm>[] = [
    // The verdict stands beside the name, where a phone shows it without scrolling.
    ...(hasBaseline ? [team, right, verdict] : [team, right]),
    ...(arms.some((arm) => arm.accuracy !== null) ? [{ ...forest, rank: 1 }] : []),
    lenient,
    ...(hasBaseline
      ? listDifferences<TeamArm>(arms, { difference, p, detects }, ({ vs_baseline: vs }) => vs?.right ?? null)
      : []),
  ];
  return (
    <Card
      title="Right answers"
      nav="Right answers"
      id="scores"
      about={
        hasBaseline
          ? `Each team is tested against ${toLine(baseline, 60)} on the questions that both were asked. That a difference cannot be told does not say that there is none. ${describeNullTest(file)}.`
          : 'No other team was asked, so nothing is set against it: --team single,… does.'
      }
    >
      <ResultTable label="Right answers" rows={arms} columns={columns} />
    </Card>
  );
}

/** Lists the columns of a difference. The questions that only one of the two teams got right are bars from the middle. */
function listDifferences<Row>(
  rows: readonly Row[],
  { difference, p, detects }: Readonly<Record<'difference' | 'p' | 'detects', Column<Row>>>,
  find: (row: Row) => RightVerdict | null,
): Column<Row>[] {
  const most = Math.max(1, ...rows.flatMap((row) => [find(row)?.won ?? 0, find(row)?.lost ?? 0]));
  return [
    difference,
    {
      header: 'lost · won',
      rank: 1,
      value: (row) => {
        const right = find(row);
        return right === null ? null : `${right.lost} · ${right.won}`;
      },
      cell: (row) => {
        const right = find(row);
        if (right === null) return UNKNOWN;
        const { won, lost } = right;
        const parts = [
          { name: 'lost', value: -lost, hue: '--s2' },
          { name: 'won', value: won, hue: '--s3' },
        ];
        return (
          <span class="swing">
            {count(lost)}
            <Bar parts={parts} low={-most} high={most} />
            {count(won)}
          </span>
        );
      },
      explain: 'Questions that only the other, or only this one got right, or got right more often.',
    },
    p,
    detects,
  ];
}

/** Pairs of teams beyond those with the baseline, and each team against itself. */
function PairsCard({ file }: { readonly file: TeamsComparison }) {
  const { columns, rows } = buildFurtherPairs(file);
  if (rows.length === 0) return null;
  const { team, against, verdict } = columns;
  type Pair = (typeof rows)[number];
  return (
    <Card
      title="Further pairs"
      id="pairs"
      about="Verdicts are not transitive: a may be better than b, and c differ from neither. A team that differs from itself has learned, or it is luck."
    >
      <ResultTable
        label="Further pairs"
        rows={rows}
        columns={[...[team, against, verdict], ...listDifferences<Pair>(rows, columns, ({ right }) => right)]}
      />
    </Card>
  );
}

/** The cost of all answers of each team, and for each right answer. */
function CostCard({ teams }: Pick<BatchData, 'teams'>) {
  const rows = teams.flatMap(({ name, summary, use }) => {
    const cached = summary.cached === 0 ? '' : ` (${count(summary.cached)} cached)`;
    // A sorted table has the rows of a team apart: each needs its name.
    return listUseRows(name, use).map((row) => ({ ...row, team: `${toLine(name, 60)}${cached}` }));
  });
  return (
    <Card
      title="What answers took"
      nav="Cost"
      id="cost"
      about={`${describeChoice(teams)}Wrong answers are part of what a right one takes. Answers from the cache count with what they took when they were asked, where that is known.`}
    >
      <ResultTable label="What answers took" rows={rows} columns={USE_COLUMNS} />
    </Card>
  );
}

const MEASURES = { cost: 'dollars', tokens: 'tokens', bytes: 'bytes' } as const;

/** Names the teams that no other team beats at a lower cost; returns an empty text if costs are not known. */
function describeChoice(teams: BatchData['teams']): string {
  const measure = (['cost', 'tokens', 'bytes'] as const).find((key) =>
    teams.every(({ use }) => (use.perRight[key] ?? 0) > 0),
  );
  if (measure === undefined || teams.length < 2) return '';
  const points = teams.map(({ name, summary, use }) => ({
    name: toLine(name, 60),
    right: summary.correct,
    per: use.perRight[measure] ?? 0,
  }));
  const front = points
    .filter((one) => !points.some((other) => other.right >= one.right && other.per < one.per))
    .map(({ name }) => name);
  return front.length === 1
    ? `${front[0]} is right the most often, and takes the fewest ${MEASURES[measure]} for a right answer. `
    : `The choice between right answers and ${MEASURES[measure]} is ${front.slice(0, -1).join(', ')} or ${front.at(-1)}. `;
}
