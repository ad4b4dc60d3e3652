/**
 * Writes a table in Markdown: the first of `lines` is its header. Each cell becomes one line, cut at `maxCharacters`.
 */
export function renderMarkdownTable(lines: readonly (readonly string[])[], maxCharacters = 1000): string[] {
  const [header, ...rows] = lines;
  if (header === undefined) return [];
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => formatMarkdownCell(cell, maxCharacters)).join(' | ')} |`;
  return [line(header), `| ${header.map(() => '---').join(' | ')} |`, ...rows.map(line)];
}

function formatMarkdownCell(text: string, maxCharacters: number): string {
  const cut = text.length > maxCharacters ? `${text.slice(0, maxCharacters).toWellFormed()}…` : text;
  return cut
    .trim()
    .replaceAll('|', '\\|')
    .replace(/\r\n?|\n/g, '<br>');
}
