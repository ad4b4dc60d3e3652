import { markdownTable } from '../markdown-table.ts';
import { stylesFor } from '../terminal/style.ts';
import { count, decimals, table } from '../terminal/table.ts';
import type { ComparisonFile, ComparisonReport, Row } from './comparison-report.ts';
import { hasMatrix, matrixMarkdown, matrixTable, shortVerdict } from './matrix.ts';

const HEAD = [
  'adapter',
  'bytes',
  '×',
  'header',
  'session',
  'tokens',
  'code µs',
  'ms',
  'time',
  '95 %',
  'verdict',
];

/** For people; fits 100 columns. */
export function comparisonTable(report: ComparisonFile): string {
  const { bold, dim } = stylesFor(process.stdout);
  const { low, high } = report.null_test;
  return [
    '',
    table([HEAD, ...report.adapters.map((row) => cells(row, report))]),
    '',
    bold(report.sentence),
    dim(
      `${report.packets} packets of ${report.tasks} task(s), ${report.rounds} rounds (${report.stopped}); noise floor ` +
        `${decimals(low, 3)}–${decimals(high, 3)} (${report.baseline} against itself), seed ${report.seed}`,
    ),
    dim('bytes: all packets, each once; code: encode + decode per packet; ms: all tasks, no tool time'),
    ...(hasMatrix(report) ? ['', matrixTable(report.matrix)] : []),
    '',
  ].join('\n');
}

function cells(
  { adapter, ledger, session_bytes, prompt_tokens, encode_us, decode_us, latency_us, vs_baseline }: Row,
  { packets }: ComparisonReport,
): string[] {
  const time = vs_baseline?.time;
  return [
    adapter,
    count(ledger.total.wire),
    vs_baseline === null ? '1.00' : decimals(vs_baseline.bytes.ratio, 2),
    count(ledger.total.header_size),
    count(session_bytes),
    prompt_tokens === null ? '–' : count(prompt_tokens),
    decimals((encode_us + decode_us) / packets, 0),
    decimals(latency_us.median / 1000, 2),
    time === undefined ? '1.00' : decimals(time.ratio, 2),
    time === undefined ? '–' : `${decimals(time.low, 2)}–${decimals(time.high, 2)}`,
    time === undefined ? 'baseline' : shortVerdict(time.verdict),
  ];
}

/** The same as Markdown. */
export function markdownOf(report: ComparisonFile): string {
  const main = `${adaptersMarkdown(report)}\n\n${report.sentence}\n`;
  return hasMatrix(report) ? `${main}\n${matrixMarkdown(report.matrix)}` : main;
}

/** A row an adapter. */
export function adaptersMarkdown(report: ComparisonReport): string {
  return markdownTable([HEAD, ...report.adapters.map((row) => cells(row, report))]);
}

/** One line an adapter, every number in full. */
export function csvOf(report: ComparisonReport): string {
  const head = [
    ...[
      'adapter',
      'wire_bytes',
      'payload_bytes',
      'header_bytes',
      'payload_coding_bytes',
      'layer_bytes',
      'session_bytes',
    ],
    ...['prompt_tokens', 'encode_us', 'decode_us', 'latency_us_median', 'latency_us_p95', 'rounds'],
    ...[
      'bytes_ratio',
      'bytes_verdict',
      'time_ratio',
      'time_low',
      'time_high',
      'time_adjusted_p',
      'time_effect',
      'time_verdict',
    ],
  ];
  const lines = report.adapters.map(({ ledger: { total }, vs_baseline, ...row }) => [
    ...[
      row.adapter,
      total.wire,
      total.payload,
      total.header_size,
      total.payload_coding,
      total.layers,
      row.session_bytes,
    ],
    ...[
      row.prompt_tokens ?? '',
      row.encode_us,
      row.decode_us,
      row.latency_us.median,
      row.latency_us.p95 ?? '',
      row.rounds,
    ],
    ...[vs_baseline?.bytes.ratio ?? 1, vs_baseline?.bytes.verdict ?? 'equal'],
    ...[vs_baseline?.time.ratio ?? 1, vs_baseline?.time.low ?? '', vs_baseline?.time.high ?? ''],
    ...[
      vs_baseline?.time.adjustedP ?? '',
      vs_baseline?.time.effectSize ?? '',
      vs_baseline?.time.verdict ?? 'baseline',
    ],
  ]);
  return `${[head, ...lines].map((line) => line.join(',')).join('\n')}\n`;
}
