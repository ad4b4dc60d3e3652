import { type Column, formatColumnsCsv } from '../../terminal/columns.ts';
import { count, toOneLine } from '../../terminal/table.ts';
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
} from '../arm-columns.ts';
import type { AdaptersComparison } from '../comparison-file.ts';

type AdapterArm = AdaptersComparison['arms'][number];

const name = createNameColumn('adapter');

/** Lists the costs and the verdicts of adapters. */
function listAdapterColumns({ packets }: AdaptersComparison): Column<AdapterArm>[] {
  return [
    name,
    {
      key: 'wire_bytes',
      header: 'bytes',
      value: ({ wire_bytes }) => wire_bytes,
      explain: 'bytes of all packets, each counted once',
    },
    bytesRatio,
    { key: 'bytes_on_wire', value: ({ bytes_on_wire }) => bytes_on_wire },
    { key: 'payload_bytes', value: ({ payload_bytes }) => payload_bytes },
    {
      key: 'header_bytes',
      header: 'header',
      value: ({ header_bytes }) => header_bytes,
      explain: 'bytes that are not payload',
      rank: 1,
    },
    {
      key: 'session_bytes',
      header: 'session',
      value: ({ session_bytes }) => session_bytes,
      explain: 'bytes of the handshake, with keys and tables',
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
      digits: 1,
      explain: 'all tasks in fresh processes, with cold code and key generation',
      rank: 4,
    },
    ...latencies,
    {
      key: 'latency_ms_p50',
      header: 'ms',
      value: ({ latency_us: times }) => (times === null ? null : times.p50 / 1000),
      digits: 2,
      explain: 'the same in steady state, without tool time, as a median',
    },
    ...createVerdictColumns('time'),
    bytesVerdict,
    ...createRatioColumns('cpu'),
    ...createRatioColumns('first'),
    { key: 'invocations', value: ({ invocations }) => invocations },
  ];
}

/** The bytes of adapters by what they are for; they sum to `wire`. */
const byteColumns: readonly Column<AdapterArm>[] = [
  name,
  {
    key: 'payload_bytes',
    header: 'payload',
    value: ({ ledger }) => ledger.total.payload,
    explain: 'bytes of the application data as JSON',
  },
  {
    key: 'envelope_bytes',
    header: 'envelope',
    value: ({ ledger }) => ledger.total.envelope,
    explain: 'bytes of the message around it',
  },
  {
    key: 'payload_coding_bytes',
    header: 'payload coding',
    value: ({ ledger }) => ledger.total.payload_coding,
    explain: 'bytes that this encoding of the payload adds or saves',
  },
  {
    key: 'layer_bytes',
    header: 'layers',
    value: ({ ledger }) => ledger.total.layers,
    explain: 'bytes of signatures, encryption and checksums, and those that compression saves',
  },
  {
    key: 'framing_bytes',
    header: 'framing',
    value: ({ ledger }) => ledger.total.framing,
    explain: 'bytes of the length before each frame',
  },
  {
    key: 'wire_bytes',
    header: 'wire',
    value: ({ ledger }) => ledger.total.wire,
    explain: 'bytes of all of these',
  },
];

/** Lists the adapters' bytes as multiples of the baseline's, by kind of traffic or by size; nothing if all packets are in one group. */
function listGroupColumns(
  { arms: [baseline] }: AdaptersComparison,
  key: 'by_part' | 'by_size',
): Column<AdapterArm>[] {
  const groups = baseline?.[key] ?? [];
  if (groups.length < 2) return [];
  return [
    { ...name, header: 'bytes ×' },
    ...groups.map(
      ({ name: group, packets, wire }): Column<AdapterArm> => ({
        key: group,
        header: `${toOneLine(group, 20)} (${packets})`,
        value: (arm) => {
          const own = arm[key].find((one) => one.name === group)?.wire;
          return own === undefined || wire === 0 ? null : own / wire;
        },
        digits: 2,
        explain: 'bytes of so many packets, as a multiple of the baseline’s',
      }),
    ),
  ];
}

/** Builds the tables of a comparison of adapters. */
export function buildAdapterTables(file: AdaptersComparison): ComparisonTables {
  const { arms } = file;
  const columns = listAdapterColumns(file);
  const groups = (['by_part', 'by_size'] as const)
    .map((key) => listGroupColumns(file, key))
    .filter(({ length }) => length > 0);
  return {
    sections: [
      {
        heading: 'Adapters',
        tables: [createTable(columns, arms)],
        note:
          'All adapters carry the same packets, which were recorded once. Each invocation of each adapter is a set of fresh processes; adapters take ' +
          'turns within a round, in random order.',
        at: 'top',
      },
      {
        heading: 'Bytes by kind and by size of payload',
        tables: groups.map((own) => createTable(own, arms)),
        note: 'As a multiple of the baseline, with the number of packets.',
        at: 'bottom',
      },
      {
        heading: 'Where the bytes are',
        tables: [createTable(byteColumns, arms)],
        note: 'The lines sum to `wire`, and over the run that matches the byte counts of the sockets.',
        at: 'page',
      },
    ],
    csv: formatColumnsCsv(columns, arms),
    limits: listLimits(file),
    legend:
      'bytes: all packets, each once; ms: median of all tasks in steady state, without tools; time: the mean of the ratios of invocations that ran side by side',
  };
}

/** Lists what the numbers cannot tell. */
function listLimits({ arms, agents, packets, tasks, environment, network }: AdaptersComparison): string[] {
  const payload = arms[0]?.payload_bytes ?? 0;
  return [
    describeDistance(network !== null),
    'A2A, MCP and ANP normally run on HTTP and TLS. The adapters write their messages into the frames of the mesh; compare --stacks ' +
      'measures their cost on their usual transports.',
    'Broadcast is not their request model. In these protocols a client asks one server, which answers; here a packet goes to all agents, and ' +
      'nothing is acknowledged.',
    `It is one recorded run of ${packets} small packets (of ${tasks} ${tasks === 1 ? 'task' : 'tasks'}, ${count(payload / packets)} bytes of payload a packet): with larger ones ` +
      'envelopes matter less; other contents change the effect of codings.',
    `The hub and ${agents} agents shared ${environment.cpus} cores, so times include waiting for a core; they would differ with a core for each.`,
    'Times measure these JavaScript libraries: implementations of a format, not the format itself.',
  ];
}
