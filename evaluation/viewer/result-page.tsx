import type { ReportData } from '../report/page-data.ts';
import { BlamePage } from './blame-page.tsx';
import { ComparisonPage } from './comparison/comparison-page.tsx';
import { RunPage } from './run/run-page.tsx';
import { TeamsPage } from './teams/teams-page.tsx';

/** A result from its file. */
export function ResultPage({ report }: { readonly report: ReportData }) {
  switch (report.kind) {
    case 'run':
      return <RunPage run={report.run} />;
    case 'batch':
      return <TeamsPage file={report.batch.comparison} batch={report.batch} />;
    case 'blame':
      return <BlamePage file={report.blame} />;
    case 'comparison':
      return report.comparison.kind === 'teams' ? (
        <TeamsPage file={report.comparison} />
      ) : (
        <ComparisonPage file={report.comparison} />
      );
  }
}
