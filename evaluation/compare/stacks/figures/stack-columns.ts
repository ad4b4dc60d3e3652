import { type Column, formatColumnsCsv } from '../../../terminal/columns.ts';
import { count } from '../../../terminal/table.ts';
import {
  bytesRatio,
  bytesVerdict,
  type ComparisonTables,
  createNameColumn,
  createRatioColumns,
  createTable,
  createVerdictColumns,
  describeDistance,
  latencies,
} from '../../arm-columns.ts';
import type { StackArm, StacksComparison } from '../../comparison-file.ts';

const name = createNameColumn('stack');

/** Times of exchanges at the fixed rate, with the verdict of each arm. */
const timeColumns: readonly Column<StackArm>[] = [
  name,
  {
    key: 'latency_n',
    header: 'n',
    value: ({ latency_us: times }) => times?.n,
    explain: 'number of exchanges whose time is known',
    rank: 7,
  },
  {
    key: 'latency_us_p50',
    header: 'p50 µs',
    value: ({ latency_us: times }) => times?.p50,
    explain: 'microseconds that half of the exchanges take at most, each from its due time',
  },
  {
    key: 'latency_us_p99',
    header: 'p99',
    value: ({ latency_us: times }) => times?.p99,
    explain: 'microseconds that 99 of 100 exchanges take at most',
    rank: 8,
  },
  {
    key: 'latency_us_p999',
    header: 'p99.9',
    value: ({ latency_us: times }) => times?.p999,
    explain: 'microseconds that 999 of 1,000 exchanges take at most',
    rank: 1,
  },
  ...createVerdictColumns('time'),
];

/** Bytes of an exchange by line, in both directions, and of the set-up. */
const byteColumns: readonly Column<StackArm>[] = [
  name,
  {
    key: 'bytes_per_exchange',
    header: 'B',
    value: ({ bytes }) => bytes.per_exchange,
    format: ({ bytes }) => count(bytes.per_exchange) + (bytes.is_repeatable ? '' : '~'),
    explain: 'bytes of an exchange in both directions; `~` if passes differed',
  },
  bytesRatio,
  createLineColumn('payload', 'bytes of what is said, as compact JSON'),
  createLineColumn(
    'envelope',
    'bytes of the messages beyond the payload; negative if a protocol encodes the payload in fewer bytes',
  ),
  createLineColumn('head', 'bytes of the heads of HTTP and of frames'),
  { ...createLineColumn('tls', 'bytes of TLS'), rank: 5 },
  {
    key: 'one_way_overhead_bytes',
    header: 'one way',
    value: ({ bytes: { one_way: pass } }) => (pass === null ? null : computeOverhead(pass)),
    explain:
      'bytes of an exchange without an answer beyond its payload, including the acknowledgement of the protocol',
    rank: 4,
  },
  {
    key: 'session_bytes',
    header: 'set-up B',
    value: ({ session_bytes }) => session_bytes,
    explain: 'bytes of the set-up of a session',
  },
  {
    key: 'setup_messages',
    header: 'messages',
    value: ({ setup }) => setup.messages,
    explain: 'messages of the set-up',
    rank: 3,
  },
  {
    key: 'setup_ms',
    header: 'ms',
    value: ({ setup }) => setup.ms,
    digits: 1,
    explain: 'milliseconds of the first set-up of a process',
    rank: 2,
  },
];

/** Round trips, and what a network makes of them. */
const tripColumns: readonly Column<StackArm>[] = [
  name,
  {
    key: 'setup_round_trips',
    header: 'set-up RTT',
    value: ({ setup }) => setup.round_trips,
    digits: 1,
    explain:
      'round trips that the first exchange takes more than others: handshakes of TCP and TLS, and the set-up',
  },
  {
    key: 'round_trips_per_exchange',
    header: 'RTT',
    value: ({ setup }) => setup.round_trips_per_exchange,
    digits: 1,
    explain: 'round trips of an exchange with an answer, on a session in use',
  },
  {
    key: 'first_answer_ms',
    header: 'first answer ms',
    value: ({ setup }) => setup.first_answer_ms,
    digits: 1,
    explain: 'milliseconds from the beginning of the set-up to the first answer, in fresh processes',
  },
  {
    key: 'exchange_ms',
    header: 'exchange ms',
    value: ({ latency_us: times }) => times && times.p50 / 1000,
    digits: 1,
    explain: 'milliseconds that half of the exchanges take at most',
  },
];

/** Creates the column of one line of the bytes of an exchange, in both directions. */
function createLineColumn(line: 'payload' | 'envelope' | 'head' | 'tls', explain: string): Column<StackArm> {
  return {
    explain,
    key: `${line}_per_exchange`,
    header: line,
    value: ({ bytes: { sent, received, exchanges } }) => (sent[line] + received[line]) / exchanges,
  };
}

/** Returns the bytes of an exchange beyond its payload, in both directions. */
function computeOverhead({ sent, received, exchanges }: NonNullable<StackArm['bytes']['one_way']>): number {
  return (sent.raw - sent.payload + received.raw - received.payload) / exchanges;
}

/** Lists the columns of the CPU time of an exchange, and of the throughput of the two ends. */
function listCpuColumns({ arms: [baseline] }: StacksComparison): Column<StackArm>[] {
  const levels = baseline?.saturation.map(({ concurrency }) => concurrency) ?? [];
  return [
    name,
    {
      key: 'client_us',
      header: 'client µs',
      value: ({ cpu: { client } }) => client.user + client.system,
      explain: 'microseconds of CPU of the client’s process, one exchange at a time',
    },
    {
      key: 'server_us',
      header: 'server µs',
      value: ({ cpu: { server } }) => server.user + server.system,
      explain: 'microseconds of CPU of the server’s process',
    },
    {
      key: 'system_us',
      header: 'in system',
      value: ({ cpu: { client, server } }) => client.system + server.system,
      explain: 'microseconds of both that the system took',
      rank: 4,
    },
    ...createRatioColumns('cpu', 'CPU ×'),
    ...levels.map((level, index): Column<StackArm> => {
      const isMiddle = index > 0 && index < levels.length - 1;
      return {
        key: `per_s_at_${level}`,
        header: `/s at ${level}`,
        value: ({ saturation }) => saturation[index]?.per_s,
        explain: `exchanges a second with ${level} under way at once`,
        rank: isMiddle ? 4 + index : undefined,
      };
    }),
    {
      key: 'knee_per_s',
      header: 'knee/s',
      value: ({ knee_per_s }) => knee_per_s,
      explain: 'the highest load at which the median is less than ten times that of the lowest',
      rank: 3,
    },
    {
      key: 'server_rss_mb',
      header: 'RSS MB',
      value: ({ rss_bytes }) => rss_bytes.server / 2 ** 20,
      explain: 'memory of the server’s process, in mebibytes',
      rank: 1,
    },
  ];
}

/** Lists the figures of stacks that are in the CSV file alone. */
function listPlainColumns({ arms: [baseline] }: StacksComparison): Column<StackArm>[] {
  const { settings, bytes } = baseline ?? {};
  const toColumns = <Part extends object>(
    keys: Part | undefined,
    prefix: string,
    pick: (arm: StackArm) => object,
  ): Column<StackArm>[] =>
    Object.keys(keys ?? {}).map((key) => ({
      key: `${prefix}${key}`,
      value: (arm) => Object.entries(pick(arm)).find(([own]) => own === key)?.[1],
    }));
  return [
    { key: 'stack', value: ({ stack }) => stack },
    { key: 'implementation', value: ({ implementation }) => implementation },
    ...toColumns(settings, '', (arm) => arm.settings),
    { key: 'invocations', value: ({ invocations }) => invocations },
    { key: 'exchanges', value: (arm) => arm.bytes.exchanges },
    { key: 'bytes_repeatable', value: (arm) => arm.bytes.is_repeatable },
    ...toColumns(bytes?.sent, 'sent_', (arm) => arm.bytes.sent),
    ...toColumns(bytes?.received, 'received_', (arm) => arm.bytes.received),
    { key: 'one_way_exchanges', value: (arm) => arm.bytes.one_way?.exchanges },
    { key: 'one_way_bytes_per_exchange', value: (arm) => arm.bytes.one_way?.per_exchange },
    { key: 'setup_sent_bytes', value: ({ setup }) => setup.sent_bytes },
    { key: 'setup_received_bytes', value: ({ setup }) => setup.received_bytes },
    { key: 'client_user_us', value: ({ cpu }) => cpu.client.user },
    { key: 'client_system_us', value: ({ cpu }) => cpu.client.system },
    { key: 'server_user_us', value: ({ cpu }) => cpu.server.user },
    { key: 'server_system_us', value: ({ cpu }) => cpu.server.system },
    ...latencies,
    { key: 'client_rss_bytes', value: ({ rss_bytes }) => rss_bytes.client },
    { key: 'server_rss_bytes', value: ({ rss_bytes }) => rss_bytes.server },
    bytesVerdict,
    ...createRatioColumns('first'),
    ...createRatioColumns('saturated'),
  ];
}

/** Builds the tables of a comparison of stacks. */
export function buildStackTables(file: StacksComparison): ComparisonTables {
  const { arms } = file;
  const hasNetwork = arms.some(({ settings }) => settings.network !== null);
  const columns = [
    ...timeColumns,
    ...listPlainColumns(file),
    ...byteColumns,
    ...tripColumns,
    ...listCpuColumns(file),
  ];
  return {
    sections: [
      {
        heading: 'Time an exchange',
        tables: [createTable(timeColumns, arms)],
        note:
          'Exchanges begin at fixed times, whether or not earlier ones have ended, and each is measured from its due time. Percentiles for which ' +
          'the sample is too small are left out.',
        at: 'top',
      },
      {
        heading: 'Bytes an exchange',
        tables: [createTable(byteColumns, arms)],
        note:
          'Means over one pass through the exchanges with an answer, on a session in use. The lines add up to the counters of the sockets or pipes at ' +
          'both ends.',
        at: 'top',
      },
      {
        heading: 'Round trips',
        tables: hasNetwork ? [createTable(tripColumns, arms)] : [],
        note:
          'The network counts a round trip for the handshake of each connection, and whenever the client sends after it has received; some of these ' +
          'it may not have waited for. Times that of the network, they are what distance costs a stack.',
        at: 'top',
      },
      {
        heading: 'CPU time and throughput',
        tables: [createTable(listCpuColumns(file), arms)],
        note: 'CPU time, user and system, of the whole process of each side, with one exchange at a time.',
        at: 'top',
      },
    ],
    // Tables share some columns.
    csv: formatColumnsCsv(
      columns.filter(({ key }, index) => columns.findIndex((column) => column.key === key) === index),
      arms,
    ),
    limits: listLimits(file),
    legend:
      'p50: median of all exchanges, from the due time of each; time: the mean of the ratios of invocations that ran side by side, so few that differ ' +
      'much may disagree with p50; B: bytes of an exchange, both directions (~: varies); CPU ×: one exchange at a time, = equal, ? cannot ' +
      'tell; /s at 16: throughput with sixteen at once',
  };
}

/** Lists what the numbers cannot tell. */
function listLimits({ environment, arms }: StacksComparison): string[] {
  return [
    describeDistance(arms.some(({ settings }) => settings.network !== null)),
    `Client and server shared ${environment.cpus} cores with each other and with the command.`,
    'Times and CPU measure these implementations on these versions of their languages, not the protocols themselves. That is why an SDK and the bare implementation of the same protocol stand side by side.',
    'CPU time includes the test client and server, which are the same for all stacks; the ratio of two stacks would be larger without them.',
    'Exchanges without an answer count in the bytes but not in the times: some protocols acknowledge them, others do not, and a written message has not necessarily arrived.',
    'The time of a set-up is that of the first session of a process, with cold code. For clients that connect at first use, that time is part of their first exchange; its bytes are in the set-up.',
    ...(arms.some(({ bytes }) => !bytes.is_repeatable)
      ? [
          'Bytes marked `~` depend on timing: polls, keep-alives, flow control. They are a single measurement.',
        ]
      : []),
  ];
}
