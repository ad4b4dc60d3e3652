import type { BatchData } from '../../report/batch-data.ts';
import { formatDate } from '../format.ts';
import { Notes, Title } from '../parts.tsx';
import { CostCard } from './costs.tsx';
import { CyclesCard } from './cycles.tsx';
import { describeFinding, describeMissing, describeOrigin } from './finding.ts';
import { QuestionsCard } from './questions.tsx';
import { GroupsCard, PairsCard, ScoreCard } from './scores.tsx';
import { WorkCard } from './work.tsx';

/** Teams on the same questions: who is right how often, at what cost, and on what. */
export function TeamsPage({ batch }: { readonly batch: BatchData }) {
  const { teams, endedAt } = batch;
  const missing = describeMissing(batch);
  return (
    <>
      <Title
        title={describeFinding(batch)}
        lede={describeOrigin(batch)}
        command={batch.command}
        made={[endedAt === null ? null : formatDate(endedAt), batch.machine, batch.source]}
      />
      {missing === null ? null : <Notes texts={[missing]} />}
      <div class="grid">
        <ScoreCard batch={batch} />
        <QuestionsCard batch={batch} />
        <PairsCard batch={batch} />
        <GroupsCard teams={teams} />
        <CyclesCard teams={teams} />
        <CostCard teams={teams} />
        <WorkCard teams={teams} />
      </div>
    </>
  );
}
