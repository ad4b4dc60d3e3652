import type { FolderPlace } from '../report/page-data.ts';
import { formatCounted, formatDate, toLine } from './format.ts';
import { Notes, Title } from './parts.tsx';
import { type Column, ResultTable, Verdict } from './result-table.tsx';

type Item = FolderPlace['items'][number];

/** Says how many results there are of which kind: `6 runs, 1 batch, 2 comparisons`. */
function describeItems(items: readonly Item[]): string {
  const counts = [...Map.groupBy(items, ({ kind }) => kind)].map(([kind, { length }]) =>
    kind === 'batch' && length > 1 ? `${length}\u00a0batches` : formatCounted(length, kind),
  );
  return counts.length === 0 ? 'No results here yet' : counts.join(', ');
}

/** The list of what is in a folder of results; each has a page of its own. */
export function FolderPage({ page }: { readonly page: FolderPlace }) {
  const { items, left, title } = page;
  const columns: Column<Item>[] = [
    {
      header: 'question',
      isText: true,
      value: ({ question, place }) => toLine(question === '' ? place : question, 200),
      cell: ({ id, question, place }) => (
        <a href={`item/${id}/`}>{toLine(question === '' ? place : question, 200)}</a>
      ),
    },
    {
      header: 'verdict',
      value: ({ verdict }) => verdict,
      cell: ({ verdict }) => <Verdict word={verdict} />,
    },
    { header: 'answer', isText: true, value: ({ answer }) => toLine(answer, 200) },
    {
      header: 'kind',
      isWide: true,
      isText: true,
      value: ({ kind, setting }) => toLine(`${kind}: ${setting}`, 160),
    },
    { header: 'when', value: ({ modifiedMs }) => modifiedMs, format: formatDate },
    { header: 'file', isWide: true, isText: true, value: ({ place }) => toLine(place, 200) },
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
