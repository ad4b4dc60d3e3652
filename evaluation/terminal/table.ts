/** Of a terminal that does not say how wide it is, and of a pipe. */
const USUAL_COLUMNS = 80;
const GAP = 2;

type Rows = readonly (readonly string[])[];

/**
 * Rows as columns of text: the first row is the heading, numbers line up at the right.
 *
 * @param rank headings of columns that can be done without, the least important first: they are left out, one after the other, until
 *   the table fits the terminal (80 columns where it does not say)
 */
export function formatTable(all: Rows, rank: readonly string[] = []): string {
  const columns = Math.max(USUAL_COLUMNS, process.stdout.columns ?? 0);
  let rows = all;
  let widths = measureWidths(rows);
  for (const heading of rank) {
    if (widths.reduce((sum, width) => sum + width, GAP * (widths.length - 1)) <= columns) break;
    const at = rows[0]?.indexOf(heading) ?? -1;
    rows = rows.map((row) => row.filter((_, i) => i !== at));
    widths = measureWidths(rows);
  }
  const isNumber = (cell: string) => /^[-+]?[\d.,]+( ?(%|ms|s|B|µs|\/s))?$|^[\d.]+–[\d.]+ %$|^–$/.test(cell);
  return rows
    .map((row) =>
      row
        .map((cell, i) => {
          const pad = ' '.repeat(Math.max(0, (widths[i] ?? 0) - measureWidth(cell)));
          const numeric = rows.slice(1).every((other) => isNumber(other[i] ?? '–'));
          return numeric ? pad + cell : cell + pad;
        })
        .join(' '.repeat(GAP))
        .trimEnd(),
    )
    .join('\n');
}

function measureWidths(rows: Rows): number[] {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, measureWidth(cell));
    });
  return widths;
}

// Made when it is first needed: it takes 20 ms.
let segmenter: Intl.Segmenter | undefined;

/** Columns that a text takes: one for each character that a person sees. */
function measureWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  segmenter ??= new Intl.Segmenter();
  let width = 0;
  for (const _ of segmenter.segment(text)) width += 1;
  return width;
}

/** `1234567` → `1,234,567`. Not by `toLocaleString`, whose first call takes 20 ms of the run that is being shown. */
export function count(value: number): string {
  return value.toFixed(0).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** A fraction as `12.3 %`, or `–` where it is not known. */
export function formatPercent(value: number | null): string {
  return value === null ? '–' : `${(value * 100).toFixed(1)} %`;
}

/** A change of a fraction as `+12.3 %` or `−4.5 %`. */
export function formatSignedPercent(change: number): string {
  return `${change < 0 ? '−' : '+'}${formatPercent(Math.abs(change))}`;
}

/** A number with `digits` decimals, or `–` where it is not known. */
export function formatDecimals(value: number | null, digits: number): string {
  return value === null ? '–' : value.toFixed(digits);
}

/** `text` on lines of at most 80 columns, broken between words. */
export function wrapText(text: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > USUAL_COLUMNS) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}

/** One line of at most `columns`, without control characters: what agents say must not drive the terminal. */
export function toOneLine(text: string, columns: number): string {
  const plain = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return plain.length <= columns ? plain : `${plain.slice(0, columns - 1)}…`;
}
