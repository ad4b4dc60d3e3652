import type { BatchData } from '../../report/batch-data.ts';
import { formatDate } from '../format.ts';
import { Notes, Title } from '../parts.tsx';
import { CostCard, ScoreCostCard } from './costs.tsx';
import { CyclesCard } from './cycles.tsx';
import { describeFinding, describeMissing, describeOrigin } from './finding.ts';
import { QuestionsCard } from './questions.tsx';
import { GroupsCard, PairsCard, ScoreCard } from './scores.tsx';
import { WorkCards } from './work.tsx';

interface PartProps {
  readonly batch: BatchData;
  readonly isFirst: boolean;
}

/** Teams on the same questions: who is right how often, at what cost, and on what. */
export function TeamsPart({ batch, isFirst }: PartProps) {
  const { teams, endedAt } = batch;
  const missing = describeMissing(batch);
  return (
    <>
      <Title
        isFirst={isFirst}
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
        <ScoreCostCard teams={teams} baseline={batch.baseline} />
        <GroupsCard teams={teams} />
        <CostCard batch={batch} />
        <CyclesCard teams={teams} />
        <WorkCards teams={teams} />
      </div>
    </>
  );
}
