import type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import type { Column } from '../../terminal/columns.ts';
import { toOneLine } from '../../terminal/table.ts';

/** Maximum rows of the table of packets; agents may invent any number of types. */
const MAX_HOPS = 40;

/** A row of what agents sent: a packet type and its sender, or all that the rows above leave out. */
interface HopRow extends Pick<RunMetrics['hops'][number], 'packets' | 'bytes' | 'header_size'> {
  readonly type: string;
  readonly from: string;
  readonly mean_us: number | null;
  readonly tool_us: number | null;
  readonly mesh_us: number | null;
}

/** Builds the table of what agents sent, one row for each type and sender. */
export function buildHopTable(metrics: RunMetrics) {
  const rows = listHopRows(metrics);
  return { rows, columns: listHopColumns(rows) };
}

/** Packets, bytes and overhead add up to the totals of the run: a last row has what the others leave out. */
function listHopRows({ hops, agents, pkt_cnt, bytes_rx, header_overhead }: RunMetrics): HopRow[] {
  const shown = hops.slice(0, MAX_HOPS);
  const sum = (key: 'packets' | 'bytes' | 'header_size') => shown.reduce((all, hop) => all + hop[key], 0);
  const rest = {
    packets: pkt_cnt - sum('packets'),
    bytes: bytes_rx - sum('bytes'),
    header_size: header_overhead - sum('header_size'),
  };
  const rows = shown.map((hop): HopRow => {
    const { packets, bytes, header_size, tool_us, mesh_us } = hop;
    const from = nameSender(hop.from, agents);
    return {
      type: hop.type,
      from,
      packets,
      bytes,
      header_size,
      mean_us: hop.latency_us.mean,
      tool_us,
      mesh_us,
    };
  });
  const hasRest = Object.values(rest).some((left) => left !== 0);
  return hasRest
    ? [...rows, { type: 'others', from: '', ...rest, mean_us: null, tool_us: null, mesh_us: null }]
    : rows;
}

/** Returns the tool of a packet's sender, with its id if several agents have that tool. */
function nameSender(sender: string, agents: RunMetrics['agents']): string {
  const tool = agents.find(({ id }) => id === sender)?.tool;
  if (tool === undefined) return sender;
  return agents.filter((other) => other.tool === tool).length > 1 ? `${sender} ${tool}` : tool;
}

/** If each row is one packet, the column of counts is left out, and no time is called a mean. */
function listHopColumns(rows: readonly HopRow[]): Column<HopRow>[] {
  const isCounted = rows.some(({ packets, from }) => packets > 1 || from === '');
  const packets: Column<HopRow> = {
    key: 'packets',
    header: 'packets',
    value: (row) => row.packets,
    explain: 'packets of this type that the hub received from this agent',
  };
  const createTime = (key: 'mean_us' | 'tool_us' | 'mesh_us', header: string, explain: string) => ({
    key: key.replace('us', 'ms'),
    header,
    value: ({ [key]: us }: HopRow) => (us === null ? null : us / 1000),
    digits: 2,
    explain: `${explain}${isCounted ? ', as a mean' : ''}`,
  });
  return [
    { key: 'type', header: 'packet', value: ({ type }) => toOneLine(type, 64) },
    { key: 'from', header: 'from', value: ({ from }) => toOneLine(from, 64) },
    ...(isCounted ? [packets] : []),
    { key: 'bytes', header: 'bytes', value: ({ bytes }) => bytes, explain: 'bytes of their frames' },
    {
      key: 'header_size',
      header: 'overhead',
      value: ({ header_size }) => header_size,
      explain: 'bytes around their payloads: framing, envelope and layers',
    },
    createTime(
      'mean_us',
      isCounted ? 'mean ms' : 'ms',
      'milliseconds from the arrival of the packet that caused it until its own at the hub',
    ),
    createTime('tool_us', 'in tool', 'milliseconds of it in the sender’s tool, by its own clock'),
    createTime('mesh_us', 'in mesh', 'milliseconds of the rest'),
  ];
}
