import { useLayoutEffect } from 'preact/hooks';
import { formatHeadline } from '../compare/comparison-text.ts';
import type { ReportData } from '../report/page-data.ts';
import { BlamePart } from './blame-page.tsx';
import { ComparisonPart } from './comparison/comparison-page.tsx';
import { toLine } from './format.ts';
import { Part, Title } from './parts.tsx';
import { formatRunTitle, RunPart } from './run/run-page.tsx';
import { describeBytes } from './run/versus.ts';
import { VersusPart } from './run/versus-page.tsx';
import { describeFinding } from './teams/finding.ts';
import { TeamsPart } from './teams/teams-page.tsx';

/** Results from files: one part each, the first with the title of the page. */
export function Report({ report, isInPage = false }: { report: ReportData; isInPage?: boolean }) {
  const { runs, batch, blame, comparison } = report;
  const parts = [
    batch && {
      id: 'teams',
      name: 'Teams',
      title: describeFinding(batch),
      draw: (isFirst: boolean) => <TeamsPart batch={batch} isFirst={isFirst} />,
    },
    blame && {
      id: 'blame',
      name: 'Blame',
      title: blame.headline,
      draw: (isFirst: boolean) => <BlamePart file={blame} isFirst={isFirst} />,
    },
    comparison && {
      id: 'comparison',
      name: comparison.kind === 'adapters' ? 'Adapters' : 'Stacks',
      title: formatHeadline(comparison),
      draw: (isFirst: boolean) => <ComparisonPart file={comparison} isFirst={isFirst} />,
    },
    runs.length > 1 && {
      id: 'versus',
      name: 'Run against run',
      title: describeBytes(runs.map(({ metrics }) => metrics)),
      draw: (isFirst: boolean) => <VersusPart runs={runs} isFirst={isFirst} />,
    },
    ...runs.map((run, index) => ({
      id: `run-${index + 1}`,
      name: `Run ${index + 1} · ${toLine(run.metrics.adapter, 40)}`,
      title: formatRunTitle(run),
      draw: (isFirst: boolean) => <RunPart run={run} isFirst={isFirst} />,
    })),
  ].filter((part) => part !== null && part !== false);
  const title = parts[0]?.title ?? 'Nothing to report';
  useLayoutEffect(() => {
    if (!isInPage) document.title = `${title} · Gaia Mesh`;
  }, [title, isInPage]);
  return (
    <>
      {parts.length === 0 ? <Title title={title} isFirst={!isInPage} /> : null}
      {parts.map(({ id, name, draw }, index) => (
        <Part key={id} id={id} name={name} isAlone={parts.length === 1}>
          {draw(index === 0 && !isInPage)}
        </Part>
      ))}
    </>
  );
}
