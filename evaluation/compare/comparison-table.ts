import { stylesFor } from '../terminal/style.ts';
import { count, decimals, oneLine, wrapped } from '../terminal/table.ts';
import { markdownOf, type TableView, tableView, terminalTable } from '../terminal/table-view.ts';
import { type ComparedAdapter, type ComparisonFile, hasMatrix, noiseOf } from './comparison-file.ts';
import { detectableText, intervalText } from './verdict-text.ts';

interface Column {
  /** Begins with `#` where it holds numbers. */
  readonly title: string;
  text(row: ComparedAdapter, file: ComparisonFile): string;
}

const COLUMNS: readonly Column[] = [
  { title: 'adapter', text: ({ adapter }) => oneLine(adapter, 40) },
  { title: '#bytes', text: ({ ledger }) => count(ledger.total.wire) },
  { title: '#×', text: (row, file) => bytesRatio(row, file) },
  { title: '#header', text: ({ ledger }) => count(ledger.total.header_size) },
  { title: '#session', text: ({ session_bytes }) => count(session_bytes) },
  { title: '#tokens', text: ({ prompt_tokens: tokens }) => (tokens === null ? '–' : count(tokens)) },
  {
    title: '#code µs',
    text: ({ encode_us, decode_us }, { packets }) => count((encode_us + decode_us) / packets),
  },
  { title: '#ms', text: ({ latency_us }) => decimals(latency_us.median / 1000, 2) },
  { title: '#time', text: ({ vs_baseline: vs }) => (vs === null ? '1.00' : decimals(vs.time.ratio, 2)) },
  { title: '#95 %', text: ({ vs_baseline: vs }) => (vs === null ? '–' : intervalText(vs.time)) },
  { title: '#detects', text: ({ vs_baseline: vs }) => (vs === null ? '–' : detectableText(vs.time)) },
  { title: 'verdict', text: ({ vs_baseline: vs }) => vs?.time.verdict ?? 'baseline' },
];

/** What the columns are, for whoever reads the table. */
export const COLUMNS_EXPLAINED =
  'bytes: all packets, each once, and × against the baseline. header: what of them is not payload. session: the handshake, with keys and ' +
  'tables. tokens: what a model would read of formats that are text (o200k_base). code: to encode and decode one packet. ms: all tasks, ' +
  'without tool time, the median. time: the median of the ratios to the baseline within rounds, with its 95 % interval. detects: the smallest ratio, or its ' +
  'inverse, that such rounds would show in four of five sessions.';

/** A row an adapter: what it costs, and its verdict. */
export function comparisonTable(
  file: ComparisonFile,
  adapters: readonly ComparedAdapter[] = file.adapters,
): TableView {
  return tableView(
    COLUMNS.map(({ title }) => title),
    adapters.map((row) => COLUMNS.map(({ text }) => text(row, file))),
  );
}

/** Times the bytes of the baseline: `0.95`. */
export function bytesRatio({ ledger }: ComparedAdapter, { adapters, baseline }: ComparisonFile): string {
  const base = adapters.find(({ adapter }) => adapter === baseline)?.ledger.total.wire ?? 0;
  return base === 0 ? '–' : decimals(ledger.total.wire / base, 2);
}

/** A row an adapter and run, its runs together, so that its growth is read downwards; × is against its first run. */
export function matrixTable({ matrix }: ComparisonFile): TableView {
  return tableView(
    ['team', 'engine', '#agents', 'adapter', '#bytes a task', '#×', '#ms a task', '#×', 'against baseline'],
    [...Map.groupBy(matrix, ({ adapter }) => adapter).values()].flatMap((own) => {
      const [first] = own;
      return own.map((cell) => [
        oneLine(cell.team, 40),
        oneLine(cell.engine, 40),
        count(cell.agents),
        oneLine(cell.adapter, 40),
        count(cell.bytes_per_task),
        decimals(cell.bytes_per_task / (first?.bytes_per_task ?? 1), 2),
        decimals(cell.ms_per_task, 2),
        decimals(cell.ms_per_task / (first?.ms_per_task ?? 1), 2),
        oneLine(cell.time_verdict, 40),
      ]);
    }),
  );
}

const STOPPED: Readonly<Record<ComparisonFile['stopped'], string>> = {
  precise: 'until the intervals were narrow',
  rounds: 'as many as were asked for',
  budget: 'all that fitted the time',
  interrupted: 'until it was interrupted',
};

/** What was played, and how often. */
export function playedText({ packets, tasks, rounds, stopped, seed }: ComparisonFile): string {
  const of = (number: number, noun: string) => `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
  return `${of(packets, 'packet')} of ${of(tasks, 'task')}, ${of(rounds, 'round')} (${STOPPED[stopped]}), seed ${seed}`;
}

/** How much of a task the choice can be about. */
export function taskShareText({ adapters, baseline, task_ms, tasks }: ComparisonFile): string {
  const own = adapters.find(({ adapter }) => adapter === baseline)?.latency_us.median ?? 0;
  return (
    `A task takes ${decimals(task_ms, 1)} ms with its tools; its packets through ${baseline} take ` +
    `${decimals(own / 1000 / tasks, 1)} ms of that.`
  );
}

/** For people at a terminal. */
export function comparisonText(file: ComparisonFile): string {
  const { bold, dim } = stylesFor(process.stdout);
  const noise = noiseOf(file);
  const compared = terminalTable(shortened(comparisonTable(file)), RANK);
  const floor = noise === null ? 'unknown' : `${decimals(noise.low, 3)}–${decimals(noise.high, 3)}`;
  return [
    '',
    compared,
    '',
    bold(wrapped(file.sentence)),
    wrapped(taskShareText(file)),
    dim(wrapped(`${playedText(file)}; noise floor ${floor} (${file.baseline} against itself)`)),
    dim(
      wrapped(
        'bytes: all packets, each once; code: to encode and decode a packet; ms: all tasks, without tools' +
          (compared.includes('detects')
            ? '; detects: the smallest ratio that such rounds would show in four of five sessions'
            : ''),
      ),
    ),
    ...(hasMatrix(file) ? ['', terminalTable(shortened(matrixTable(file)), ['ms a task'])] : []),
    '',
  ].join('\n');
}

/** Columns that a narrow terminal has no room for, the least important first. */
const RANK = ['header', 'session', 'tokens', 'code µs', 'detects'];

function shortened({ columns, rows }: TableView): TableView {
  const short = (cell: string) => (cell === 'no detectable difference' ? 'no difference' : cell);
  return { columns, rows: rows.map((row) => row.map(short)) };
}

/** The same as Markdown. */
export function comparisonMarkdown(file: ComparisonFile): string {
  const parts = [markdownOf(comparisonTable(file)), file.sentence, taskShareText(file), COLUMNS_EXPLAINED];
  return `${[...parts, ...(hasMatrix(file) ? [markdownOf(matrixTable(file))] : [])].join('\n\n')}\n`;
}
