import { useEffect } from 'preact/hooks';
import type { FolderPlace } from '../report/watch-html.ts';
import { formatDate, toLine } from './format.ts';
import { Notes, Title } from './parts.tsx';
import { type Column, ResultTable } from './result-table.tsx';

type Item = FolderPlace['items'][number];

/** The list of what is in a folder of results; each has a page of its own. */
export function FolderPage({ page }: { readonly page: FolderPlace }) {
  const { items, left, title } = page;
  useEffect(() => {
    document.title = `${title} · Gaia Mesh`;
  }, [title]);
  const columns: Column<Item>[] = [
    {
      header: 'result',
      isText: true,
      value: ({ facts, place }) => toLine(facts === '' ? place : facts, 200),
      cell: ({ id, facts, place }) => <a href={`item/${id}/`}>{toLine(facts === '' ? place : facts, 200)}</a>,
    },
    { header: 'kind', value: ({ kind }) => kind },
    { header: 'of', isText: true, value: (item) => toLine(item.title, 160) },
    { header: 'when', value: ({ modifiedMs }) => modifiedMs, format: formatDate },
    { header: 'file', isWide: true, isText: true, value: ({ place }) => toLine(place, 200) },
  ];
  return (
    <>
      <Title
        isFirst
        title={items.length === 0 ? 'No results here yet' : `${items.length} runs, batches and comparisons`}
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
