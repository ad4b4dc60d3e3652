import type { TeamsComparison } from '../../compare/comparison-file.ts';
import { describeNullTest, describePlayed } from '../../compare/comparison-text.ts';
import type { BatchData, TeamFigures } from '../../report/batch-data.ts';
import { USE_COLUMNS } from '../../results/tables/use-columns.ts';
import { count } from '../../terminal/table.ts';
import { formatDate, toLine } from '../format.ts';
import { Card, Notes, Title } from '../parts.tsx';
import { ResultTable, toPageColumns } from '../result-table.tsx';
import { CyclesCard } from './cycles.tsx';
import { describeFinding, describeOrigin } from './finding.ts';
import { QuestionsCard } from './questions.tsx';
import { GroupsCard, PairsCard, ScoreCard } from './scores.tsx';
import { WorkCard } from './work.tsx';

interface TeamsPageProps {
  readonly file: TeamsComparison;
  /** Questions, answers and their cost, which `comparison.json` lacks. */
  readonly batch?: BatchData;
}

/** The page of teams on the same questions: how often each is right, on which questions, and at what cost. */
export function TeamsPage({ file, batch }: TeamsPageProps) {
  const { command, measured_at, environment, questions, warnings } = file;
  return (
    <>
      <Title
        title={describeFinding(file)}
        lede={
          batch === undefined ? `${describePlayed(file)}. ${describeNullTest(file)}.` : describeOrigin(batch)
        }
        command={command}
        made={[
          measured_at === null ? null : formatDate(measured_at),
          String(environment.machine),
          questions.source,
        ]}
      />
      <Notes texts={warnings.map((warning) => `${warning}.`)} />
      <div class="grid">
        <ScoreCard file={file} />
        {batch === undefined ? null : <QuestionsCard batch={batch} />}
        <PairsCard file={file} />
        {batch === undefined ? null : <TeamCards {...batch} />}
      </div>
    </>
  );
}

function TeamCards({ teams }: Pick<BatchData, 'teams'>) {
  return (
    <>
      <GroupsCard teams={teams} />
      <CyclesCard teams={teams} />
      <CostCard teams={teams} />
      <WorkCard teams={teams} />
    </>
  );
}

/** The cost of all answers of each team, and for each right answer. */
function CostCard({ teams }: Pick<BatchData, 'teams'>) {
  const rows = teams.flatMap(({ name, summary: { cached }, use }) => {
    const team = cached === 0 ? toLine(name, 60) : `${toLine(name, 60)} (${count(cached)} cached)`;
    return [
      { team, taken: 'per right answer', use: use.perRight, isTotal: false },
      { team, taken: 'in total', use: use.total, isTotal: true },
    ];
  });
  return (
    <Card
      title="What answers took"
      nav="Cost"
      id="cost"
      about={`${describeChoice(teams)}Wrong answers are part of what a right one takes. Answers from the cache count with what they took when they were asked, where that is known.`}
    >
      <ResultTable label="What answers took" rows={rows} columns={toPageColumns(USE_COLUMNS, rows)} />
    </Card>
  );
}

const MEASURES = { cost: 'dollars', tokens: 'tokens', bytes: 'bytes' } as const;

/** Names the teams that no other team beats at a lower cost; returns an empty text if costs are not known. */
function describeChoice(teams: readonly TeamFigures[]): string {
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
