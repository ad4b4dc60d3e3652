import type { ComparedAdapter, ComparisonFile, MatrixCell } from './comparison-file.ts';

type Value = string | number | boolean | null | undefined;

/** Formats one line for each adapter, with all numbers in full precision. */
export function formatAdaptersCsv({ adapters }: ComparisonFile): string {
  return formatCsv(adapters, ({ ledger: { total }, vs_baseline: vs, ...row }: ComparedAdapter) => ({
    adapter: row.adapter,
    wire_bytes: total.wire,
    payload_bytes: total.payload,
    header_bytes: total.header_size,
    payload_coding_bytes: total.payload_coding,
    layer_bytes: total.layers,
    session_bytes: row.session_bytes,
    encode_us: row.encode_us,
    decode_us: row.decode_us,
    latency_us_median: row.latency_us.median,
    latency_us_p95: row.latency_us.p95,
    cpu_us: row.cpu_us,
    first_us: row.first_us,
    first_code_us: row.first_code_us,
    invocations: row.samples_us.length,
    bytes_ratio: vs?.bytes.ratio ?? 1,
    bytes_verdict: vs?.bytes.verdict ?? 'equal',
    time_ratio: vs?.time.ratio ?? 1,
    time_low: vs?.time.low,
    time_high: vs?.time.high,
    time_adjusted_p: vs?.time.adjustedP,
    time_detectable: vs?.time.detectable,
    time_needed: vs?.time.needed,
    time_verdict: vs?.time.verdict ?? 'baseline',
    cpu_ratio: vs === null ? 1 : vs.cpu?.ratio,
    cpu_verdict: vs === null ? 'baseline' : vs.cpu?.verdict,
    first_ratio: vs === null ? 1 : vs.first?.ratio,
    first_verdict: vs === null ? 'baseline' : vs.first?.verdict,
  }));
}

/** Formats one line for each adapter and run. */
export function formatMatrixCsv({ matrix }: ComparisonFile): string {
  return formatCsv(matrix, (cell: MatrixCell) => cell);
}

/** Formats a header line with the names of the values, and one line for each row. */
export function formatCsv<T>(
  rows: readonly T[],
  valuesOf: (row: T) => Readonly<Record<string, Value>>,
): string {
  const records = rows.map(valuesOf);
  const lines = records.map((record) => Object.values(record).map(formatCsvCell));
  return `${[Object.keys(records[0] ?? {}).map(formatCsvCell), ...lines].map((line) => line.join(',')).join('\n')}\n`;
}

/**
 * Formats one cell. Names of users' adapters and stacks may hold any characters; those with which spreadsheets
 * begin a formula get an apostrophe in front, which they do not show.
 */
function formatCsvCell(value: Value): string {
  const isFormula = typeof value === 'string' && /^\s*[=+\-@\uff0b\uff0d\uff1d\uff20]|^[\t\r\n]/.test(value);
  const text = `${isFormula ? "'" : ''}${value ?? ''}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
