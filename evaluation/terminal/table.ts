import type { Network } from '@gaia-mesh/core/transports/network/network.ts';

/** Columns of a pipe, and of a terminal that does not report its width. */
const USUAL_COLUMNS = 80;
const GAP = 2;

type Rows = readonly (readonly string[])[];

/**
 * Formats rows as columns of text. The first row is the heading, and numbers are aligned to the right.
 *
 * @param rank headings of dispensable columns, the least important first: they are left out one by one until the table fits the
 * terminal (80 columns if it does not report its width)
 */
export function formatTable(all: Rows, rank: readonly string[] = []): string {
  const columns = Math.max(USUAL_COLUMNS, process.stdout.columns ?? 0);
  let rows: Rows = all.map((row) => row.map(joinLines));
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

// The segmenter is created on first use, because that takes 20 ms.
let segmenter: Intl.Segmenter | undefined;

/** Returns the columns that a text takes: one for each visible character. */
function measureWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  segmenter ??= new Intl.Segmenter();
  let width = 0;
  for (const _ of segmenter.segment(text)) width += 1;
  return width;
}

/**
 * Formats a whole number: `1234567` → `1,234,567`. `toLocaleString` is avoided, because its first call takes 20 ms of the run
 * that is shown.
 */
export function count(value: number): string {
  return value.toFixed(0).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Formats a fraction as `12.3 %`, or `–` if it is null. */
export function formatPercent(value: number | null, digits = 1): string {
  return value === null ? '–' : `${(value * 100).toFixed(digits)} %`;
}

/** Formats an interval of shares: `26.0–47.6 %`, or `–` if it is not known. */
export function formatShares({
  low,
  high,
}: {
  readonly low: number | null;
  readonly high: number | null;
}): string {
  return low === null || high === null ? '–' : `${(low * 100).toFixed(1)}–${formatPercent(high)}`;
}

/** Formats a change of a share in percentage points: `+12.3`, `−4.5` or `0.0`. */
export function formatPoints(change: number): string {
  const points = formatDecimals(Math.abs(change) * 100, 1);
  return Number(points) === 0 ? points : `${change < 0 ? '−' : '+'}${points}`;
}

/** Formats a number with `digits` decimals, or `–` if it is null. */
export function formatDecimals(value: number | null, digits: number): string {
  return value === null ? '–' : value.toFixed(digits);
}

/** Wraps `text` between words to lines of at most 80 columns. */
export function wrapText(text: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of joinLines(text).split(' ')) {
    if (line !== '' && line.length + 1 + word.length > USUAL_COLUMNS) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}

/** Replaces line ends and tabs by spaces, as foreign text must not begin a line. */
function joinLines(text: string): string {
  return text.replaceAll(/\s*[^\S ]\s*/g, ' ');
}

/** Reduces text to one line of at most `columns` without control characters, since text from agents is not trusted. */
export function toOneLine(text: string, columns: number): string {
  const plain = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return plain.length <= columns ? plain : `${plain.slice(0, columns - 1)}…`;
}

const RATES: readonly (readonly [string, number])[] = [
  ['Gbit/s', 1e9],
  ['Mbit/s', 1e6],
  ['kbit/s', 1e3],
];

/** Formats a network: `40 ms round trip, 100 Mbit/s`. */
export function formatNetwork({ rttMs, bitsPerS }: Network): string {
  const [unit, bits] = RATES.find(([, own]) => bitsPerS >= own) ?? ['bit/s', 1];
  return `${rttMs} ms round trip, ${bitsPerS / bits} ${unit}`;
}
