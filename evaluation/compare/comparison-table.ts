import { createStyles } from '../terminal/style.ts';
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
  /** Begins with `#` where it holds numbers. */
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

/** What the columns are, for whoever reads the table. */
export const COLUMNS_EXPLAINED =
  'bytes: all packets, each once, and × against the baseline. header: what of them is not payload. session: the handshake, with keys and ' +
  'tables. code: in the codecs to encode and decode one packet, by the ' +
  'clock on the wall. CPU: that all processes had a core for, a packet. first: all tasks by processes that had done nothing before, cold code and ' +
  'keys included. ms: the same in steady state, without tool time, the median. time: its ratio to the baseline, of the means of fresh processes, ' +
  'with its 95 % interval. detects: the smallest ratio, or its inverse, that so many processes would show in four of five measurements.';

/** A row an adapter: what it costs, and its verdict. */
export function buildComparisonTable(
  file: ComparisonFile,
  adapters: readonly ComparedAdapter[] = file.adapters,
): TableView {
  return createTableView(
    COLUMNS.map(({ title }) => title),
    adapters.map((row) => COLUMNS.map(({ text }) => text(row, file))),
  );
}

/** Times the bytes of the baseline: `0.95`. */
export function formatBytesRatio(
  { ledger }: ComparedAdapter,
  { adapters, baseline }: ComparisonFile,
): string {
  const base = adapters.find(({ adapter }) => adapter === baseline)?.ledger.total.wire ?? 0;
  return base === 0 ? '–' : formatDecimals(ledger.total.wire / base, 2);
}

/** A row an adapter and run, its runs together, so that its growth is read downwards; × is against its first run. */
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

/** Why it was not measured more often. */
export const STOPPED: Readonly<Record<ComparisonFile['stopped'], string>> = {
  invocations: 'as many as were asked for',
  budget: 'all that fitted the time',
  interrupted: 'until it was interrupted',
};

/** What was played, and how often. */
export function describePlayed(file: ComparisonFile): string {
  const { packets, tasks, invocations, rounds, passes, stopped, seed } = file;
  const of = (number: number, noun: string) => `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
  return (
    `${of(packets, 'packet')} of ${of(tasks, 'task')}; ${of(invocations, 'invocation')} of each adapter in fresh processes ` +
    `(${STOPPED[stopped]}), ${of(rounds, 'round')} in each, ${of(passes, 'pass').replace('passs', 'passes')} a round; seed ${seed}`
  );
}

/** How often the same thing was found to be different from itself: never, if all is well. */
export function describeNullTest({ baseline, null_test: test }: ComparisonFile): string {
  const found = {
    different: 'so something else than the adapters made a difference: believe no verdict that is near it',
    equivalent: 'as it should',
    'cannot tell': 'and more cannot be told',
  }[test.verdict];
  return `${baseline} against itself, in processes of its own: ${formatDecimals(test.ratio, 3)} times (${formatInterval(test)}), ${found}`;
}

/** How long it would take to tell what was not told; null where everything was. */
export function openText(file: ComparisonFile): string | null {
  const open = file.adapters.flatMap(({ adapter, vs_baseline: vs }) =>
    vs?.time.verdict === 'cannot tell' ? [{ name: toOneLine(adapter, 40), time: vs.time }] : [],
  );
  const [first] = open.toSorted((a, b) => (a.time.needed ?? Infinity) - (b.time.needed ?? Infinity));
  if (first === undefined) return null;
  const soonest = open.length === 1 ? first.name : `${first.name}, the soonest of ${open.length}`;
  return `Cannot tell yet (${soonest}): ${formatNeeded(first.time, file)}`;
}

/** How much of a task the choice can be about. */
export function describeTaskShare({ adapters, baseline, task_ms, tasks }: ComparisonFile): string {
  const own = adapters.find(({ adapter }) => adapter === baseline)?.latency_us.median ?? 0;
  const ofPackets = own / 1000 / tasks;
  // No tool took any time that the recording knows of.
  if (!(task_ms > ofPackets))
    return `The packets of a task take ${formatDecimals(ofPackets, 1)} ms through ${baseline}; what tools take is not known.`;
  return (
    `A task takes ${formatDecimals(task_ms, 1)} ms with its tools; its packets through ${baseline} take ` +
    `${formatDecimals(ofPackets, 1)} ms of that.`
  );
}

/** Bytes of each adapter against the baseline: by kind of traffic, and by size of payload. None where all packets are of one. */
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

/** For people at a terminal. */
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
            ? '; detects: the smallest ratio that so many processes would show in four of five measurements'
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

/** Columns that a narrow terminal has no room for, the least important first. */
const RANK = ['header', 'session', 'code µs', 'first ms', 'CPU µs', 'detects'];

/** The same as Markdown. */
export function formatComparisonMarkdown(file: ComparisonFile): string {
  const parts = [
    formatMarkdown(buildComparisonTable(file)),
    ...(file.sentence === null ? [] : [file.sentence]),
    ...(openText(file) === null || hasOnePair(file) ? [] : [openText(file) ?? '']),
    ...file.warnings.map((warning) => `Warning: ${warning}.`),
    `${describeTaskShare(file)} ${describePlayed(file)}. ${describeNullTest(file)}.`,
    COLUMNS_EXPLAINED,
  ];
  const groups = groupTables(file);
  if (groups.length > 0)
    parts.push(
      `Bytes against ${file.baseline}, by kind and by size of payload:`,
      ...groups.map(formatMarkdown),
    );
  return `${[...parts, ...(hasMatrix(file) ? [formatMarkdown(buildMatrixTable(file))] : [])].join('\n\n')}\n`;
}
