import { type ComponentChildren, render } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { FolderPlace, PageContent, PageOrigin, ReportData } from '../report/page-data.ts';
import { BlamePage } from './blame-page.tsx';
import { ComparisonPage } from './comparison/comparison-page.tsx';
import { formatCounted, formatDate, showHidden, toLine } from './format.ts';
import { LivePage } from './live/live-page.tsx';
import { Notes, Title } from './parts.tsx';
import { type Column, ResultTable } from './result-table.tsx';
import { RunPage } from './run/run-page.tsx';
import { TeamsPage } from './teams/teams-page.tsx';

/** A whole page, with a running command, a folder of results or one result. */
function App({ data }: { readonly data: PageContent & PageOrigin }) {
  return (
    <Shell origin={data}>
      {data.kind === 'live' ? (
        <LivePage title={data.title} showReport={showReport} />
      ) : data.kind === 'folder' ? (
        <FolderPage page={data} />
      ) : (
        showReport(data)
      )}
    </Shell>
  );
}

/** Shows a result from its file. */
function showReport(report: ReportData) {
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

interface ShellProps {
  readonly origin: PageOrigin;
  readonly children: ComponentChildren;
}

/** The frame of every page: a bar with the names of its parts, the content, and the origin of the page at its foot. */
function Shell({ origin, children }: ShellProps) {
  const [parts, setParts] = useState<readonly { id: string; name: string }[]>([]);
  const main = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const find = () => {
      const named = [...document.querySelectorAll<HTMLElement>('[data-nav]')];
      const found = named.map(({ id, dataset }) => ({ id, name: dataset.nav ?? '' }));
      setParts((before) => (JSON.stringify(before) === JSON.stringify(found) ? before : found));
    };
    find();
    if (main.current === null) return;
    const observer = new MutationObserver(find);
    observer.observe(main.current, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, []);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="bar">
        <span class="brand">
          <Mark />
          Gaia Mesh
        </span>
        {origin.isListed ? <a href="../../">All results</a> : null}
        {parts.length < 2 ? null : (
          <nav aria-label="Parts of this page">
            {parts.map(({ id, name }) => (
              <a key={id} href={`#${id}`}>
                {name}
              </a>
            ))}
          </nav>
        )}
      </header>
      <main id="main" ref={main}>
        {children}
      </main>
      <footer>
        {`Gaia Mesh ${origin.version}. This page was made on ${formatDate(origin.madeAt)} by `}
        <code>{showHidden(origin.command)}</code>
        {` on ${toLine(origin.machine, 120)}. It loads nothing from the network.`}
      </footer>
    </>
  );
}

function Mark() {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
      <path d="M10 10 4 4M10 10l6-6M10 10l-6 6M10 10l6 6" />
      <circle cx="10" cy="10" r="3" />
      <circle cx="4" cy="4" r="2" />
      <circle cx="16" cy="4" r="2" />
      <circle cx="4" cy="16" r="2" />
      <circle cx="16" cy="16" r="2" />
    </svg>
  );
}

type Item = FolderPlace['items'][number];

/** Counts the results by kind, and names the latest: `6 runs, 1 batch; the latest: 40 tasks, 48 % right`. */
function describeItems(items: readonly Item[]): string {
  const counts = [...Map.groupBy(items, ({ kind }) => kind)].map(([kind, { length }]) =>
    kind === 'batch' && length > 1 ? `${length}\u00a0batches` : formatCounted(length, kind),
  );
  const [latest] = items;
  if (latest === undefined) return 'No results here yet';
  const { question, verdict, answer } = latest;
  const result = [question, verdict || answer].filter(Boolean).join(question.endsWith('?') ? ' ' : ', ');
  return `${counts.join(', ')}${items.length === 1 ? '' : '; the latest'}: ${toLine(result, 160)}`;
}

/** The list of the results in a folder, each with a link to its page. */
function FolderPage({ page }: { readonly page: FolderPlace }) {
  const { items, left, title } = page;
  const nameItem = ({ question, place }: Item) => toLine(question === '' ? place : question, 200);
  const columns: Column<Item>[] = [
    {
      header: 'question',
      isText: true,
      value: nameItem,
      cell: (item) => <a href={`item/${item.id}/`}>{nameItem(item)}</a>,
    },
    { header: 'verdict', value: ({ verdict }) => verdict },
    { header: 'answer', isText: true, value: ({ answer }) => answer },
    { header: 'kind', isText: true, value: ({ kind, setting }) => `${kind}: ${setting}`, rank: 1 },
    {
      header: 'when',
      value: ({ modifiedMs }) => new Date(modifiedMs).toISOString(),
      format: ({ modifiedMs }) => formatDate(modifiedMs),
    },
    { header: 'file', isText: true, value: ({ place }) => place, rank: 1 },
  ];
  return (
    <>
      <Title
        title={describeItems(items)}
        tab={title}
        lede={`In ${toLine(title, 300)}, the latest first. Open one to see all of it.`}
      />
      {left.length === 0 ? null : <Notes texts={[`Left out: ${left.join('; ')}.`]} />}
      <div class="grid">
        <div class="card">
          <ResultTable label="Results" rows={items} columns={columns} />
        </div>
      </div>
    </>
  );
}

const root = document.getElementById('page');
if (root !== null)
  render(<App data={JSON.parse(document.getElementById('data')?.textContent ?? '{}')} />, root);
