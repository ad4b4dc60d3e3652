import { HUB_ID } from '@gaia-mesh/core/contracts/packet.ts';
import { count, toOneLine } from '../../terminal/table.ts';
import { createTableView, type TableView } from '../../terminal/table-view.ts';
import { formatBytes, formatShare } from '../wording.ts';
import type { ArchivedRun } from './archived-run.ts';

/** Traffic from one node to another, copies included: a broadcast packet is on as many links as it has recipients. */
interface LinkView {
  readonly from: string;
  readonly to: string;
  readonly bytes: number;
  readonly packets: number;
}

export interface LinksView {
  readonly finding: string;
  readonly nodes: readonly { readonly id: string; readonly label: string }[];
  readonly links: readonly LinkView[];
  /** Nodes that a chart has no room for. */
  readonly nodesLeft: number;
  readonly table: TableView;
}

/** Nodes of a chart that can still be read; those with the most bytes are shown. */
const MAX_NODES = 24;

/** Everybody hears everybody: the links of a team grow with its square. */
const MAX_TEAM = 500;

/** The links of a run, from its recording; null where it says nothing, and for a team that is too large. */
export function buildLinksView({ recording }: ArchivedRun): LinksView | null {
  if (recording === null || recording.header.agents.length > MAX_TEAM) return null;
  const { agents, routing } = recording.header;
  const ids = agents.map(({ id }) => id);
  const links = new Map<string, { from: string; to: string; bytes: number; packets: number }>();
  const add = (from: string, to: string, bytes: number) => {
    const key = `${from} ${to}`;
    const link = links.get(key) ?? { from, to, bytes: 0, packets: 0 };
    link.bytes += bytes;
    link.packets += 1;
    links.set(key, link);
  };
  for (const { packet, relayed } of recording.packets) {
    if (relayed === undefined) continue;
    const to = routing === 'direct' ? packet.to : undefined;
    for (const id of ids) {
      if (to === undefined ? id !== packet.from : id === to) add(packet.from, id, relayed.bytes);
    }
  }
  const all = [...links.values()];
  if (all.length === 0) return null;
  const labels = new Map([
    [HUB_ID, HUB_ID],
    ...agents.map(({ id, tool }): [string, string] => [id, toOneLine(`${id} ${tool}`, 40)]),
  ]);
  const nodes = findBusiest([HUB_ID, ...ids], all);
  const shown = new Set(nodes);
  const drawn = all.filter(({ from, to }) => shown.has(from) && shown.has(to));
  const nameOf = (id: string) => labels.get(id) ?? id;
  return {
    finding: describeLinks(all, nameOf),
    nodes: nodes.map((id) => ({ id, label: nameOf(id) })),
    links: drawn,
    nodesLeft: ids.length + 1 - nodes.length,
    table: createTableView(
      ['from', 'to', '#bytes', '#packets'],
      drawn.map(({ from, to, bytes, packets }) => [nameOf(from), nameOf(to), count(bytes), count(packets)]),
    ),
  };
}

function describeLinks(links: readonly LinkView[], nameOf: (id: string) => string): string {
  const bySender = new Map<string, number>();
  for (const { from, bytes } of links) bySender.set(from, (bySender.get(from) ?? 0) + bytes);
  const total = links.reduce((sum, { bytes }) => sum + bytes, 0);
  const [most] = [...bySender].sort(([, a], [, b]) => b - a);
  const share =
    most === undefined
      ? ''
      : `, ${formatShare(most[1] / Math.max(1, total))} of them from ${nameOf(most[0])}`;
  return `${formatBytes(total)} were delivered${share}`;
}

/** In the order of `nodes`. */
function findBusiest(nodes: readonly string[], links: readonly LinkView[]): string[] {
  const bytes = new Map(nodes.map((id) => [id, 0]));
  for (const link of links) {
    for (const id of [link.from, link.to]) bytes.set(id, (bytes.get(id) ?? 0) + link.bytes);
  }
  const most = new Set(
    [...bytes]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, MAX_NODES)
      .map(([id]) => id),
  );
  return nodes.filter((id) => most.has(id));
}
