import { formatMarkdownTable } from './markdown-table.ts';
import { formatTable } from './table.ts';

/** A table for any output; cells are texts. */
export interface TableView {
  readonly columns: readonly { readonly title: string; readonly isNumber: boolean }[];
  readonly rows: readonly (readonly string[])[];
}

/** Creates a table. Columns whose titles begin with `#` hold numbers. */
export function createTableView(titles: readonly string[], rows: readonly (readonly string[])[]): TableView {
  const columns = titles.map((title) => ({
    title: title.replace(/^#/, ''),
    isNumber: title.startsWith('#'),
  }));
  return { columns, rows };
}

/** @param rank see {@link formatTable} */
export function formatTerminalTable(view: TableView, rank: readonly string[] = []): string {
  return formatTable(withHeading(view), rank);
}

export function formatMarkdown(view: TableView): string {
  return formatMarkdownTable(withHeading(view));
}

function withHeading({ columns, rows }: TableView): (readonly string[])[] {
  return [columns.map(({ title }) => title), ...rows];
}
