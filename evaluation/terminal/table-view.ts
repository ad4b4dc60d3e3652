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
