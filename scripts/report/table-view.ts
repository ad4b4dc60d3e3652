/** A table as the page shows it: every cell is the text that is read. */
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
