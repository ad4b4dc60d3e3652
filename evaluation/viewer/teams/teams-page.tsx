import type { GaiaView } from '../../report/gaia/gaia-view.ts';
import { formatDate } from '../format.ts';
import { Card, Notes, Title } from '../parts.tsx';
import { TextTable } from '../result-table.tsx';
import { CostCard, ScoreCostCard } from './costs.tsx';
import { CyclesCard } from './cycles.tsx';
import { QuestionsCard } from './questions.tsx';
import { GroupsCard, PairsCard, ScoreCard } from './scores.tsx';

interface PartProps {
  readonly view: GaiaView;
  readonly isFirst: boolean;
}

/** Teams on the same questions: who is right how often, at what cost, and on what. */
export function TeamsPart({ view, isFirst }: PartProps) {
  const { teams, work, questions } = view;
  return (
    <>
      <Title
        isFirst={isFirst}
        title={view.finding}
        lede={view.made}
        command={view.command}
        made={[view.endedAt === null ? null : formatDate(view.endedAt), view.machine, view.source]}
      />
      {view.alarm === null ? null : <Notes texts={[view.alarm]} />}
      <div class="grid">
        <ScoreCard view={view} />
        <QuestionsCard view={questions} />
        <PairsCard view={view} />
        <ScoreCostCard teams={teams} baseline={view.baseline} />
        <GroupsCard teams={teams} />
        <CostCard view={view} />
        <CyclesCard teams={teams} />
        {work.map(({ heading, table, note }, index) => (
          <Card
            key={heading}
            size="half"
            title={heading}
            about={note}
            id={`work-${index}`}
            nav={index === 0 ? 'Failures and tools' : undefined}
          >
            <TextTable view={table} label={heading} />
          </Card>
        ))}
      </div>
    </>
  );
}
