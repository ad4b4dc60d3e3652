/** A line of a Markdown table. */
const LINE = /^\|(.*)\|\s*$/;
const RULE = /^[\s|:-]+$/;

/**
 * Parses the first Markdown table of a text, as the project's spreadsheet readers write it: `| row | A: Year | B: Name
 * |`, line breaks as `<br>`, bars as `\|`. The first row is the heading; numbers of rows and letters of columns are
 * left out. Returns undefined when the text has no table.
 */
export function parseMarkdownRows(text: string): string[][] | undefined {
  const rows: string[][] = [];
  for (const line of text.split('\n')) {
    const [, inner] = LINE.exec(line) ?? [];
    if (inner === undefined) {
      if (rows.length > 0) break;
      continue;
    }
    if (rows.length === 1 && RULE.test(inner)) continue;
    rows.push(inner.split(/(?<!\\)\|/).map(unescapeCell));
  }
  const [heading] = rows;
  if (heading === undefined || rows.length < 2) return undefined;
  if (heading[0] !== 'row') return rows;
  return rows.map((row, at) =>
    row.slice(1).map((cell) => (at === 0 ? cell.replace(/^[A-Z]{1,3}: ?/, '') : cell)),
  );
}

function unescapeCell(cell: string): string {
  return cell
    .trim()
    .replaceAll('\\|', '|')
    .replaceAll(/<br\s*\/?>/g, '\n');
}
