/** Formats rows as a Markdown table; the first row is the heading. Cells are text: links in them work, HTML and pictures do not. */
export function formatMarkdownTable(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  return [head, head.map(() => '---'), ...body]
    .map((row) => `| ${row.map((cell) => escapeMarkdown(cell).replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');
}

/** Escapes what foreign text could add to a Markdown page: lines, HTML and pictures, which browsers fetch. */
export function escapeMarkdown(text: string): string {
  return text
    .replaceAll(/\s*[\p{Cc}\u2028\u2029]+\s*/gu, ' ')
    .replaceAll('<', '&lt;')
    .replaceAll('![', '!\\[');
}
