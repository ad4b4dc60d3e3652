import { createStyles } from '../../../terminal/print.ts';
import { count, formatDecimals, wrapText } from '../../../terminal/table.ts';
import { createTableView, formatTerminalTable, type TableView } from '../../../terminal/table-view.ts';
import { STOPPED } from '../../comparison-table.ts';
import { formatAttribution } from './stack-attribution.ts';
import type { StackArm, StacksFile } from './stacks-file.ts';
import { FIGURE_NAMES, formatInterval, formatName, formatVerdictRatio } from './stacks-text.ts';

/** Columns that a narrow terminal drops, the least important first. */
const RANK = {
  time: ['p99.9', 'detects', 'n', 'p99'],
  bytes: ['ms', 'messages', 'one way', 'tls'],
  cpu: ['RSS MB', 'kept B', 'knee/s', 'in system'],
};

/** Builds the table of exchange times at the fixed rate, with the verdict of each pair. */
export function buildTimeTable({ arms }: StacksFile): TableView {
  return createTableView(
    ['stack', '#n', '#p50 µs', '#p99', '#p99.9', '#time ×', '#95 %', '#detects', 'verdict'],
    arms.map(({ name, latency_us: times, vs_baseline: vs }) => [
      formatName(name),
      times === null ? '–' : count(times.n),
      times === null ? '–' : count(times.p50),
      formatOrDash(times?.p99),
      formatOrDash(times?.p999),
      vs === null ? '1.00' : vs.latency === null ? '–' : formatDecimals(vs.latency.ratio, 2),
      vs === null || vs.latency === null ? '–' : formatInterval(vs.latency),
      vs?.latency?.detectable == null ? '–' : formatDecimals(vs.latency.detectable, 2),
      vs === null ? 'baseline' : (vs.latency?.verdict ?? 'rate too high'),
    ]),
  );
}

/** Builds the table of bytes of an exchange by line, in both directions, and of the set-up. */
export function buildBytesTable({ arms }: StacksFile): TableView {
  return createTableView(
    [
      'stack',
      '#B',
      '#×',
      '#payload',
      '#envelope',
      '#head',
      '#tls',
      '#one way',
      '#set-up B',
      '#messages',
      '#ms',
      'paid back',
    ],
    arms.map(({ name, bytes, setup, vs_baseline }) => {
      const { exchanges, sent, received } = bytes;
      const each = (line: keyof typeof sent) => count((sent[line] + received[line]) / exchanges);
      return [
        formatName(name),
        count(bytes.per_exchange) + (bytes.is_repeatable ? '' : '~'),
        formatDecimals(vs_baseline?.bytes_ratio ?? 1, 2),
        each('payload'),
        each('envelope'),
        each('head'),
        each('tls'),
        bytes.one_way === null ? '–' : count(computeOverhead(bytes.one_way)),
        count(setup.sent_bytes + setup.received_bytes),
        count(setup.messages),
        formatDecimals(setup.ms, 1),
        vs_baseline === null ? '–' : formatPayback(setup),
      ];
    }),
  );
}

/** Returns the bytes of an exchange beyond its payload, in both directions. */
function computeOverhead({ sent, received, exchanges }: NonNullable<StackArm['bytes']['one_way']>): number {
  return (sent.raw - sent.payload + received.raw - received.payload) / exchanges;
}

function formatPayback({ paid_back_bytes: bytes, paid_back_time: time }: StackArm['setup']): string {
  const of = (exchanges: number | null) => (exchanges === null ? 'never' : count(exchanges));
  return `${of(bytes)} / ${of(time)}`;
}

/** Builds the table of CPU time of an exchange, and of the throughput of the two ends. */
export function buildCpuTable({ arms }: StacksFile): TableView {
  const levels = arms[0]?.saturation.map(({ concurrency }) => concurrency) ?? [];
  return createTableView(
    [
      'stack',
      '#client µs',
      '#server µs',
      '#in system',
      '#CPU ×',
      ...levels.map((level) => `#/s at ${level}`),
      '#knee/s',
      '#RSS MB',
      '#kept B',
    ],
    arms.map(({ name, cpu_us: { client, server }, saturation, vs_baseline: vs, ...arm }) => [
      formatName(name),
      count(client.user + client.system),
      count(server.user + server.system),
      count(client.system + server.system),
      vs === null ? '1.00' : formatVerdictRatio(vs.cpu),
      ...saturation.map(({ per_s }) => count(per_s)),
      formatOrDash(arm.knee_per_s),
      count(arm.rss_bytes.server / 2 ** 20),
      formatOrDash(computeKeptBytes(arm.growth)),
    ]),
  );
}

/** Returns the bytes that a server retains of each exchange of one task, from the first point to the last. */
export function computeKeptBytes(growth: StackArm['growth']): number | null {
  const [first, last] = [growth?.[0], growth?.at(-1)];
  if (first === undefined || last === undefined || last.exchanges === first.exchanges) return null;
  return Math.max(0, (last.heap_bytes - first.heap_bytes) / (last.exchanges - first.exchanges));
}

function formatOrDash(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : count(value);
}

/** Describes the traffic and the number of repetitions. */
export function describeMeasurement({
  traffic,
  invocations,
  rate_per_s,
  seed,
  stopped,
  ...file
}: StacksFile): string {
  const { smallest, median, largest } = traffic.payload_bytes;
  const lost = file.lost_invocations === 0 ? '' : `, ${file.lost_invocations} tried again`;
  return (
    `${count(traffic.exchanges)} exchanges (${traffic.source}; payloads of ${count(smallest)} to ${count(largest)} B, half of them at most ` +
    `${count(median)} B), ${invocations} fresh pairs of processes of each (${STOPPED[stopped]}${lost}), ${rate_per_s} exchanges a second for ` +
    `times, seed ${seed}`
  );
}

/** Describes the null test, which compares the baseline with itself. */
export function describeNullTest({ null_test: { latency, cpu, saturated }, baseline }: StacksFile): string {
  const parts = (
    [
      ['latency_us', latency],
      ['cpu_us', cpu],
      ['saturated_us', saturated],
    ] as const
  ).flatMap(([figure, verdict]) =>
    verdict === null
      ? []
      : [
          `${FIGURE_NAMES[figure]} ${formatDecimals(verdict.ratio, 3)} (${formatInterval(verdict)}): ${verdict.verdict}`,
        ],
  );
  return `Null test, ${baseline} against itself: ${parts.join('; ')}`;
}

/** Lists the arms that are missing from the tables, with the reason. */
export function listAbsences({ left_out, failed }: StacksFile): string[] {
  return [...left_out.map((what) => `not measured: ${what}`), ...failed.map((what) => `FAILED: ${what}`)];
}

/** Formats the comparison for a terminal. */
export function formatStacks(file: StacksFile): string {
  const { bold, dim, yellow } = createStyles(process.stdout);
  const few =
    file.invocations < 5
      ? [wrapText(`${file.invocations} invocations are too few for verdicts: use a larger --budget.`)]
      : [];
  return [
    '',
    formatTerminalTable(buildTimeTable(file), RANK.time),
    '',
    formatTerminalTable(buildBytesTable(file), ['paid back', ...RANK.bytes]),
    '',
    formatTerminalTable(buildCpuTable(file), [...RANK.cpu, ...listMiddleLevels(file)]),
    '',
    bold(wrapText(file.sentence)),
    ...file.warnings.map((warning) => yellow(wrapText(`Warning: ${warning}.`))),
    ...few,
    ...(file.attributions.length > MAX_ATTRIBUTIONS
      ? []
      : file.attributions.map((one) => wrapText(`${formatAttribution(one)}.`))),
    dim(wrapText(describeMeasurement(file))),
    dim(wrapText(describeNullTest(file))),
    dim(wrapText(COLUMNS_EXPLAINED)),
    ...listAbsences(file).map(wrapText),
    '',
  ].join('\n');
}

/** Lists the throughput columns between the lowest and the highest concurrency. */
function listMiddleLevels({ arms }: StacksFile): string[] {
  return (arms[0]?.saturation ?? []).slice(1, -1).map(({ concurrency }) => `/s at ${concurrency}`);
}

/** Maximum attributions on the terminal; the page shows more. */
const MAX_ATTRIBUTIONS = 6;

const COLUMNS_EXPLAINED =
  'Time: from the due time of each exchange. B: bytes of an exchange, both directions (~: varies). CPU ×: one exchange at a time, = equivalent, ? ' +
  'cannot tell. /s at 16: throughput with sixteen at once.';
