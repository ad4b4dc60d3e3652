import { type Column, explainColumns, formatColumns, formatColumnsMarkdown } from '../terminal/columns.ts';
import { escapeMarkdown } from '../terminal/markdown-table.ts';
import { createStyles } from '../terminal/print.ts';
import { count, formatDecimals, toOneLine, wrapText } from '../terminal/table.ts';
import {
  createTableView,
  formatMarkdown,
  formatTerminalTable,
  type TableView,
} from '../terminal/table-view.ts';
import { type ComparedAdapter, type ComparisonFile, hasMatrix } from './comparison-file.ts';
import {
  formatDetectable,
  formatInterval,
  formatMargin,
  formatNeeded,
  formatVerdict,
} from './verdict-text.ts';

/** Lists the figures of each adapter; those without a heading are in the CSV file alone. */
export function listAdapterColumns({
  packets,
  adapters,
  baseline,
}: ComparisonFile): Column<ComparedAdapter>[] {
  const base = adapters.find(({ adapter }) => adapter === baseline);
  return [
    { key: 'adapter', header: 'adapter', value: ({ adapter }) => adapter, format: formatAdapter },
    {
      key: 'wire_bytes',
      header: 'bytes',
      value: ({ ledger }) => ledger.total.wire,
      explain: 'all packets, each counted once, and × as a multiple of the baseline',
    },
    {
      key: 'bytes_ratio',
      header: '×',
      value: ({ ledger }) => ledger.total.wire / (base?.ledger.total.wire ?? 0),
      format: (row) => formatBytesRatio(row, base),
    },
    { key: 'payload_bytes', value: ({ ledger }) => ledger.total.payload },
    {
      key: 'header_bytes',
      header: 'header',
      value: ({ ledger }) => ledger.total.header_size,
      explain: 'bytes that are not payload',
      rank: 1,
    },
    { key: 'payload_coding_bytes', value: ({ ledger }) => ledger.total.payload_coding },
    { key: 'layer_bytes', value: ({ ledger }) => ledger.total.layers },
    {
      key: 'session_bytes',
      header: 'session',
      value: ({ session_bytes }) => session_bytes,
      explain: 'the handshake, with keys and tables',
      rank: 2,
    },
    { key: 'encode_us', value: ({ encode_us }) => encode_us },
    { key: 'decode_us', value: ({ decode_us }) => decode_us },
    {
      key: 'code_us_per_packet',
      header: 'code µs',
      value: ({ encode_us, decode_us }) => (encode_us + decode_us) / packets,
      explain: 'wall-clock time in the codecs to encode and decode one packet',
      rank: 3,
    },
    { key: 'cpu_us', value: ({ cpu_us }) => cpu_us },
    {
      key: 'cpu_us_per_packet',
      header: 'CPU µs',
      value: ({ cpu_us }) => (cpu_us === null ? null : cpu_us / packets),
      explain: 'time of all processes for one packet',
      rank: 5,
    },
    { key: 'first_us', value: ({ first_us }) => first_us },
    { key: 'first_code_us', value: ({ first_code_us }) => first_code_us },
    {
      key: 'first_ms',
      header: 'first ms',
      value: ({ first_us }) => first_us / 1000,
      format: ({ first_us }) => formatDecimals(first_us / 1000, 1),
      explain: 'all tasks in fresh processes, with cold code and key generation',
      rank: 4,
    },
    { key: 'latency_us_median', value: ({ latency_us }) => latency_us.median },
    { key: 'latency_us_p95', value: ({ latency_us }) => latency_us.p95 },
    {
      key: 'latency_ms_median',
      header: 'ms',
      value: ({ latency_us }) => latency_us.median / 1000,
      format: ({ latency_us }) => formatDecimals(latency_us.median / 1000, 2),
      explain: 'the same in steady state, without tool time, as a median',
    },
    { key: 'invocations', value: ({ samples_us }) => samples_us.length },
    { key: 'bytes_verdict', value: ({ vs_baseline: vs }) => vs?.bytes.verdict ?? 'equal' },
    {
      key: 'time_ratio',
      header: 'time',
      value: ({ vs_baseline: vs }) => vs?.time.ratio ?? 1,
      format: ({ vs_baseline: vs }) => formatDecimals(vs?.time.ratio ?? 1, 2),
      explain: 'its ratio to the baseline, from the means of fresh processes, with its 95 % interval',
    },
    {
      key: 'time_low',
      header: '95 %',
      value: ({ vs_baseline: vs }) => vs?.time.low,
      format: ({ vs_baseline: vs }) => (vs === null ? '–' : formatInterval(vs.time)),
    },
    { key: 'time_high', value: ({ vs_baseline: vs }) => vs?.time.high },
    { key: 'time_adjusted_p', value: ({ vs_baseline: vs }) => vs?.time.adjustedP },
    {
      key: 'time_detectable',
      header: 'detects',
      value: ({ vs_baseline: vs }) => vs?.time.detectable,
      format: ({ vs_baseline: vs }) => (vs === null ? '–' : formatDetectable(vs.time)),
      explain:
        'the smallest ratio, or its inverse, that this many processes would show in four of five measurements',
      rank: 6,
    },
    { key: 'time_needed', value: ({ vs_baseline: vs }) => vs?.time.needed },
    {
      key: 'time_verdict',
      header: 'verdict',
      value: ({ vs_baseline: vs }) => vs?.time.verdict ?? 'baseline',
      format: ({ vs_baseline: vs }) => (vs === null ? 'baseline' : formatVerdict(vs.time)),
    },
    { key: 'cpu_ratio', value: ({ vs_baseline: vs }) => (vs === null ? 1 : vs.cpu?.ratio) },
    { key: 'cpu_verdict', value: ({ vs_baseline: vs }) => (vs === null ? 'baseline' : vs.cpu?.verdict) },
    { key: 'first_ratio', value: ({ vs_baseline: vs }) => (vs === null ? 1 : vs.first?.ratio) },
    { key: 'first_verdict', value: ({ vs_baseline: vs }) => (vs === null ? 'baseline' : vs.first?.verdict) },
  ];
}

function formatAdapter({ adapter }: ComparedAdapter): string {
  return toOneLine(adapter, 40);
}

/** Formats the bytes as a multiple of the baseline: `0.95`. */
export function formatBytesRatio({ ledger }: ComparedAdapter, base: ComparedAdapter | undefined): string {
  const bytes = base?.ledger.total.wire ?? 0;
  return bytes === 0 ? '–' : formatDecimals(ledger.total.wire / bytes, 2);
}

/**
 * Builds the table with one row for each adapter and run. The runs of an adapter are together, so its growth reads downwards; × refers to
 * its first run.
 */
export function buildMatrixTable({ matrix }: ComparisonFile): TableView {
  return createTableView(
    ['team', 'engine', '#agents', 'adapter', '#bytes a task', '#×', '#ms a task', '#×', 'against baseline'],
    [...Map.groupBy(matrix, ({ adapter }) => adapter).values()].flatMap((own) => {
      const [first] = own;
      return own.map((cell) => [
        toOneLine(cell.team, 40),
        toOneLine(cell.engine, 40),
        count(cell.agents),
        toOneLine(cell.adapter, 40),
        count(cell.bytes_per_task),
        formatDecimals(cell.bytes_per_task / (first?.bytes_per_task ?? 1), 2),
        formatDecimals(cell.ms_per_task, 2),
        formatDecimals(cell.ms_per_task / (first?.ms_per_task ?? 1), 2),
        toOneLine(cell.time_verdict, 40),
      ]);
    }),
  );
}

/** Reasons why the measurement ended. */
export const STOPPED: Readonly<Record<ComparisonFile['stopped'], string>> = {
  invocations: 'all that were requested',
  budget: 'all that fit the time budget',
  interrupted: 'until it was interrupted',
};

/** Describes the traffic and the number of repetitions. */
export function describePlayed(file: ComparisonFile): string {
  const { packets, tasks, invocations, rounds, passes, stopped, seed } = file;
  const of = (number: number, noun: string) => `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
  return (
    `${of(packets, 'packet')} of ${of(tasks, 'task')}; ${of(invocations, 'invocation')} of each adapter in fresh processes ` +
    `(${STOPPED[stopped]}), ${of(rounds, 'round')} in each, ${of(passes, 'pass').replace('passs', 'passes')} a round; seed ${seed}`
  );
}

/** Describes the comparison of the baseline with itself, which should find no difference. */
export function describeNullTest({ baseline, null_test: test }: ComparisonFile): string {
  const found = {
    different:
      'so something other than the adapters made a difference: no difference of a similar size is called',
    equivalent: 'as expected',
    'cannot tell': 'which is not precise enough for a verdict',
  }[test.verdict];
  return `${baseline} against itself, in separate processes: ${formatDecimals(test.ratio, 3)} times (${formatInterval(test)}), ${found}`;
}

/** Describes the effort that the cheapest missing verdict would take; null if there is a verdict for every pair. */
export function openText(file: ComparisonFile): string | null {
  const open = file.adapters.flatMap(({ adapter, vs_baseline: vs }) =>
    vs?.time.verdict === 'cannot tell' ? [{ name: toOneLine(adapter, 40), time: vs.time }] : [],
  );
  const [first] = open.toSorted((a, b) => (a.time.needed ?? Infinity) - (b.time.needed ?? Infinity));
  if (first === undefined) return null;
  const soonest = open.length === 1 ? first.name : `${first.name}, the soonest of ${open.length}`;
  return `Cannot tell yet (${soonest}): ${formatNeeded(first.time, file)}`;
}

/** Describes the share of a task's time that the choice of adapter affects. */
export function describeTaskShare({ adapters, baseline, task_ms, tasks }: ComparisonFile): string {
  const own = adapters.find(({ adapter }) => adapter === baseline)?.latency_us.median ?? 0;
  const ofPackets = own / 1000 / tasks;
  // The recording knows of no tool time.
  if (!(task_ms > ofPackets))
    return `The packets of a task take ${formatDecimals(ofPackets, 1)} ms through ${baseline}; the time of its tools is not known.`;
  return (
    `A task takes ${formatDecimals(task_ms, 1)} ms with its tools; its packets through ${baseline} take ` +
    `${formatDecimals(ofPackets, 1)} ms of that.`
  );
}

/**
 * Builds tables of each adapter's bytes as a multiple of the baseline, by kind of traffic and by size of payload. There is no table if all
 * packets are in one group.
 */
export function groupTables({ adapters, baseline }: ComparisonFile): TableView[] {
  const base = adapters.find(({ adapter }) => adapter === baseline);
  return (['by_part', 'by_size'] as const).flatMap((key) => {
    const groups = base?.[key] ?? [];
    if (groups.length < 2) return [];
    const titles = groups.map(({ name, packets }) => `#${toOneLine(name, 20)} (${packets})`);
    const rows = adapters.map((row) => [
      toOneLine(row.adapter, 40),
      ...groups.map(({ name, wire }) => {
        const own = row[key].find((group) => group.name === name)?.wire;
        return own === undefined || wire === 0 ? '–' : formatDecimals(own / wire, 2);
      }),
    ]);
    return [createTableView(['bytes ×', ...titles], rows)];
  });
}

/** Formats the comparison for a terminal. */
export function formatComparison(file: ComparisonFile): string {
  const { bold, dim, yellow } = createStyles(process.stdout);
  const columns = listAdapterColumns(file);
  const compared = formatColumns(columns, file.adapters);
  const open = openText(file);
  return [
    '',
    compared,
    '',
    ...(file.sentence === null ? [] : [bold(wrapText(file.sentence))]),
    ...(open === null || hasOnePair(file) ? [] : [wrapText(open)]),
    wrapText(describeTaskShare(file)),
    ...file.warnings.map((warning) => yellow(wrapText(`Warning: ${warning}.`))),
    dim(wrapText(`${describePlayed(file)}. ${describeNullTest(file)}.`)),
    dim(
      wrapText(
        `bytes: all packets, each once; ms: all tasks in steady state, without tools; equal: within ${formatMargin(file)}` +
          (compared.includes('detects')
            ? '; detects: the smallest ratio that this many processes would show in four of five measurements'
            : ''),
      ),
    ),
    ...groupTables(file).flatMap((groups) => ['', formatTerminalTable(groups, [])]),
    ...(hasMatrix(file) ? ['', formatTerminalTable(buildMatrixTable(file), ['ms a task'])] : []),
    '',
  ].join('\n');
}

function hasOnePair({ adapters }: ComparisonFile): boolean {
  return adapters.length === 2;
}

/** Formats the comparison as Markdown. */
export function formatComparisonMarkdown(file: ComparisonFile): string {
  const columns = listAdapterColumns(file);
  const parts = [
    formatColumnsMarkdown(columns, file.adapters),
    ...[
      ...(file.sentence === null ? [] : [file.sentence]),
      ...(openText(file) === null || hasOnePair(file) ? [] : [openText(file) ?? '']),
      ...file.warnings.map((warning) => `Warning: ${warning}.`),
      `${describeTaskShare(file)} ${describePlayed(file)}. ${describeNullTest(file)}.`,
      explainColumns(columns),
    ].map(escapeMarkdown),
  ];
  const groups = groupTables(file);
  if (groups.length > 0)
    parts.push(
      `Bytes as a multiple of ${escapeMarkdown(file.baseline)}, by kind and by size of payload:`,
      ...groups.map(formatMarkdown),
    );
  return `${[...parts, ...(hasMatrix(file) ? [formatMarkdown(buildMatrixTable(file))] : [])].join('\n\n')}\n`;
}
