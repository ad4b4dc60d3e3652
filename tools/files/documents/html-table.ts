import type { DomNode, FormatCallback } from 'html-to-text';
import { markdownTable } from '../tables/markdown-table.ts';

const MAX_CELL_CHARACTERS = 2000;
/** A cell that says it spans more was made to. */
const MAX_SPAN = 200;

interface TableCell {
  readonly colspan: number;
  readonly rowspan: number;
  readonly text: string;
}

/**
 * A table in Markdown, as all readers here write one: cells that span several columns or rows stand in the first of them. A table of one column or one
 * row is there for the layout, and its cells follow each other.
 */
export const formatMarkdownTable: FormatCallback = (element, walk, builder) => {
  builder.openTable();
  for (const row of rowsOf(element)) {
    builder.openTableRow();
    for (const cell of row.children ?? []) {
      if (cell.name !== 'td' && cell.name !== 'th') continue;
      builder.openTableCell();
      walk(cell.children ?? [], builder);
      builder.closeTableCell({ colspan: spanOf(cell, 'colspan'), rowspan: spanOf(cell, 'rowspan') });
    }
    builder.closeTableRow();
  }
  builder.closeTable({ tableToString, leadingLineBreaks: 2, trailingLineBreaks: 2 });
};

function rowsOf(element: DomNode): DomNode[] {
  return (element.children ?? []).flatMap((child) => {
    if (child.name === 'tr') return [child];
    return ['thead', 'tbody', 'tfoot'].includes(child.name ?? '') ? rowsOf(child) : [];
  });
}

function spanOf({ attribs }: DomNode, name: string): number {
  const span = Number(attribs?.[name] ?? 1);
  return Number.isInteger(span) && span > 0 ? Math.min(span, MAX_SPAN) : 1;
}

function tableToString(rows: readonly (readonly TableCell[])[]): string {
  const grid: (string | undefined)[][] = rows.map(() => []);
  for (const [at, cells] of rows.entries()) {
    let column = 0;
    for (const { colspan, rowspan, text } of cells) {
      while (grid[at]?.[column] !== undefined) column++;
      for (let down = 0; down < rowspan; down++)
        for (let across = 0; across < colspan; across++) {
          const row = grid[at + down];
          if (row !== undefined) row[column + across] = down + across === 0 ? text.trim() : '';
        }
      column += colspan;
    }
  }
  const width = grid.reduce((most, row) => Math.max(most, row.length), 0);
  const lines = grid.map((row) => Array.from({ length: width }, (_, i) => row[i] ?? ''));
  const kept = lines.filter((line) => line.some((text) => text !== ''));
  if (width < 2 || kept.length < 2)
    return kept
      .flat()
      .filter((text) => text !== '')
      .join('\n');
  return markdownTable(kept, MAX_CELL_CHARACTERS).join('\n');
}
