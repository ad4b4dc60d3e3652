import { markdownTable } from './markdown-table.ts';
import { table } from './table.ts';

/** A table for any output: every cell is the text that is read. */
export interface TableView {
  readonly columns: readonly { readonly title: string; readonly isNumber: boolean }[];
  readonly rows: readonly (readonly string[])[];
}

/** Columns whose titles begin with `#` hold numbers. */
export function tableView(titles: readonly string[], rows: readonly (readonly string[])[]): TableView {
  const columns = titles.map((title) => ({
    title: title.replace(/^#/, ''),
    isNumber: title.startsWith('#'),
  }));
  return { columns, rows };
}

/** @param rank see {@link table} */
export function terminalTable(view: TableView, rank: readonly string[] = []): string {
  return table(withHeading(view), rank);
}

export function markdownOf(view: TableView): string {
  return markdownTable(withHeading(view));
}

function withHeading({ columns, rows }: TableView): (readonly string[])[] {
  return [columns.map(({ title }) => title), ...rows];
}
