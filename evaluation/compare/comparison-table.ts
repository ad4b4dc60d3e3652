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

interface Column {
  /** Title of the column; it begins with `#` if the column holds numbers. */
  readonly title: string;
  text(row: ComparedAdapter, file: ComparisonFile): string;
}

const COLUMNS: readonly Column[] = [
  { title: 'adapter', text: ({ adapter }) => toOneLine(adapter, 40) },
  { title: '#bytes', text: ({ ledger }) => count(ledger.total.wire) },
  { title: '#×', text: (row, file) => formatBytesRatio(row, file) },
  { title: '#header', text: ({ ledger }) => count(ledger.total.header_size) },
  { title: '#session', text: ({ session_bytes }) => count(session_bytes) },
  {
    title: '#code µs',
    text: ({ encode_us, decode_us }, { packets }) => count((encode_us + decode_us) / packets),
  },
  {
    title: '#CPU µs',
    text: ({ cpu_us: us }, { packets }) => (us === null ? '–' : count(us / packets)),
  },
  { title: '#first ms', text: ({ first_us }) => formatDecimals(first_us / 1000, 1) },
  { title: '#ms', text: ({ latency_us }) => formatDecimals(latency_us.median / 1000, 2) },
  {
    title: '#time',
    text: ({ vs_baseline: vs }) => (vs === null ? '1.00' : formatDecimals(vs.time.ratio, 2)),
  },
  { title: '#95 %', text: ({ vs_baseline: vs }) => (vs === null ? '–' : formatInterval(vs.time)) },
  { title: '#detects', text: ({ vs_baseline: vs }) => (vs === null ? '–' : formatDetectable(vs.time)) },
  { title: 'verdict', text: ({ vs_baseline: vs }) => (vs === null ? 'baseline' : formatVerdict(vs.time)) },
];

/** Explanation of the columns for the reader of the table. */
export const COLUMNS_EXPLAINED =
  'bytes: all packets, each counted once, and × as a multiple of the baseline. header: bytes that are not payload. session: the handshake, with ' +
  'keys and tables. code: wall-clock time in the codecs to encode and decode one packet. CPU: time of all processes for one packet. first: all ' +
  'tasks in fresh processes, with cold code and key generation. ms: the same in steady state, without tool time, as a median. time: its ratio to ' +
  'the baseline, from the means of fresh processes, with its 95 % interval. detects: the smallest ratio, or its inverse, that this many processes ' +
  'would show in four of five measurements.';

/** Builds the table of costs and verdicts, one row for each adapter. */
export function buildComparisonTable(
  file: ComparisonFile,
  adapters: readonly ComparedAdapter[] = file.adapters,
): TableView {
  return createTableView(
    COLUMNS.map(({ title }) => title),
    adapters.map((row) => COLUMNS.map(({ text }) => text(row, file))),
  );
}

/** Formats the bytes as a multiple of the baseline: `0.95`. */
export function formatBytesRatio(
  { ledger }: ComparedAdapter,
  { adapters, baseline }: ComparisonFile,
): string {
  const base = adapters.find(({ adapter }) => adapter === baseline)?.ledger.total.wire ?? 0;
  return base === 0 ? '–' : formatDecimals(ledger.total.wire / base, 2);
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
  const compared = formatTerminalTable(buildComparisonTable(file), RANK);
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

/** Columns that a narrow terminal drops, the least important first. */
const RANK = ['header', 'session', 'code µs', 'first ms', 'CPU µs', 'detects'];

/** Formats the comparison as Markdown. */
export function formatComparisonMarkdown(file: ComparisonFile): string {
  const parts = [
    formatMarkdown(buildComparisonTable(file)),
    ...[
      ...(file.sentence === null ? [] : [file.sentence]),
      ...(openText(file) === null || hasOnePair(file) ? [] : [openText(file) ?? '']),
      ...file.warnings.map((warning) => `Warning: ${warning}.`),
      `${describeTaskShare(file)} ${describePlayed(file)}. ${describeNullTest(file)}.`,
      COLUMNS_EXPLAINED,
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
