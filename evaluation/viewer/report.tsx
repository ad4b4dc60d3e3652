import { useLayoutEffect } from 'preact/hooks';
import { formatHeadline } from '../compare/comparison-text.ts';
import type { ReportData } from '../report/report-html.ts';
import { BlamePart } from './blame-page.tsx';
import { ComparisonPart } from './comparison/comparison-page.tsx';
import { toLine } from './format.ts';
import { Card, Part, Title } from './parts.tsx';
import { TextTable } from './result-table.tsx';
import { formatRunTitle, RunPart } from './run/run-page.tsx';
import { TeamsPart } from './teams/teams-page.tsx';

/** Results from files: one part each, the first with the title of the page. */
export function Report({ report, isInPage = false }: { report: ReportData; isInPage?: boolean }) {
  const { runs, gaia, blame, comparison, versus } = report;
  const title =
    gaia?.finding ??
    blame?.file.headline ??
    (comparison === null ? undefined : formatHeadline(comparison)) ??
    versus?.finding ??
    (runs[0] === undefined ? 'Nothing to report' : formatRunTitle(runs[0]));
  useLayoutEffect(() => {
    if (!isInPage) document.title = `${title} · Gaia Mesh`;
  }, [title, isInPage]);
  const parts = [
    gaia && {
      id: 'teams',
      name: 'Teams',
      draw: (isFirst: boolean) => <TeamsPart view={gaia} isFirst={isFirst} />,
    },
    blame && {
      id: 'blame',
      name: 'Blame',
      draw: (isFirst: boolean) => <BlamePart view={blame} isFirst={isFirst} />,
    },
    comparison && {
      id: 'comparison',
      name: comparison.kind === 'adapters' ? 'Adapters' : 'Stacks',
      draw: (isFirst: boolean) => <ComparisonPart file={comparison} isFirst={isFirst} />,
    },
    versus && {
      id: 'versus',
      name: 'Run against run',
      draw: (isFirst: boolean) => <VersusPart view={versus} isFirst={isFirst} />,
    },
    ...runs.map((run, index) => ({
      id: `run-${index + 1}`,
      name: `Run ${index + 1} · ${toLine(run.metrics.adapter, 40)}`,
      draw: (isFirst: boolean) => <RunPart run={run} isFirst={isFirst} />,
    })),
  ].filter((part) => part !== null);
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

/** Runs against the first of them. */
function VersusPart({ view, isFirst }: { view: NonNullable<ReportData['versus']>; isFirst: boolean }) {
  return (
    <>
      <Title isFirst={isFirst} title={view.finding} lede={view.times} />
      <div class="grid">
        <Card
          title="Main figures of the runs"
          about="In brackets: times the figure of run 1. Sizes and numbers are exact."
        >
          <TextTable view={view.table} label="Main figures of the runs" />
        </Card>
      </div>
    </>
  );
}
