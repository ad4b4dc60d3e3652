import { useEffect } from 'preact/hooks';
import type { FolderPlace } from '../report/page-data.ts';
import { formatDate, toLine } from './format.ts';
import { Badge, Notes, Title } from './parts.tsx';
import { type Column, ResultTable, readTone } from './result-table.tsx';

type Item = FolderPlace['items'][number];

/** The list of what is in a folder of results; each has a page of its own. */
export function FolderPage({ page }: { readonly page: FolderPlace }) {
  const { items, left, title } = page;
  useEffect(() => {
    document.title = `${title} · Gaia Mesh`;
  }, [title]);
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
      cell: ({ verdict }) => (verdict === '' ? null : <Badge tone={readTone(verdict)}>{verdict}</Badge>),
    },
    { header: 'answer', isText: true, value: ({ answer }) => toLine(answer, 200) },
    { header: 'kind', isWide: true, value: ({ kind }) => kind },
    { header: 'of', isWide: true, isText: true, value: ({ setting }) => toLine(setting, 160) },
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
