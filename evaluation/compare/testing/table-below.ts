/** Returns the cells of the first Markdown table below a heading, one list for each row. */
export function tableBelow(page: string, heading: string): string[][] {
  const [, below = ''] = page.split(`## ${heading}\n`);
  const rows = /(?:^\|.*\|\n)+/m.exec(below)?.[0].trim().split('\n') ?? [];
  return rows.map((row) => row.slice(2, -2).split(' | '));
}
