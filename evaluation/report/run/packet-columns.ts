import { toOneLine } from '../../terminal/table.ts';

/** The packets of a run in the order in which the hub received them, with one list for each property. */
export interface PacketColumns {
  readonly nodes: readonly { readonly id: string; readonly tool: string }[];
  readonly types: readonly string[];
  readonly tasks: readonly string[];
  /** Indexes of tasks, types and nodes; `to` is -1 for a packet to all. */
  readonly task: readonly number[];
  readonly type: readonly number[];
  readonly from: readonly number[];
  readonly to: readonly number[];
  /** Index of the packet that caused it, -1 for a document. */
  readonly cause: readonly number[];
  /** Microseconds from the first packet's arrival at the hub to that of this one; without a hub, 1,000 a packet, in their order. */
  readonly at: readonly number[];
  readonly isTimed: boolean;
  readonly bytes: readonly number[];
  readonly tokens: readonly number[];
  /** Microseconds in the sender's tool, and microseconds from the end of its work to `at`. */
  readonly tool: readonly number[];
  readonly afterTool: readonly number[];
  /** Indexes of the packets that ended a task. */
  readonly final: readonly number[];
}

/** A packet of a recording, or of the events of a running command, which know of no causes and tools. */
interface TimedPacket {
  readonly packet: {
    readonly id: string;
    readonly task_id: string;
    readonly type: string;
    readonly from: string;
    readonly to?: string | undefined;
    readonly token_used: number;
  };
  readonly isFinal: boolean;
  readonly bytes: number;
  /** Microseconds, as in the columns. */
  readonly at: number;
  readonly cause?: string | null;
  readonly tool?: number;
  readonly afterTool?: number;
}

/** Converts packets to columns, in which many take little room. The first node is the hub. */
export function toPacketColumns(
  agents: PacketColumns['nodes'],
  packets: readonly TimedPacket[],
  isTimed: boolean,
): PacketColumns {
  const nodes = [{ id: 'hub', tool: '' }, ...agents];
  const node = indexNames(nodes.map(({ id }) => id));
  const types = indexNames(packets.map(({ packet }) => packet.type));
  const tasks = indexNames(packets.map(({ packet }) => packet.task_id));
  const ids = indexNames(packets.map(({ packet }) => packet.id));
  const column = (read: (own: TimedPacket) => number) => packets.map(read);
  const find = (names: ReadonlyMap<string, number>, name: string | null | undefined) =>
    name == null ? -1 : (names.get(name) ?? -1);
  return {
    nodes,
    types: [...types.keys()].map((type) => toOneLine(type, 64)),
    tasks: [...tasks.keys()].map((task) => toOneLine(task, 256)),
    isTimed,
    task: column(({ packet }) => find(tasks, packet.task_id)),
    type: column(({ packet }) => find(types, packet.type)),
    from: column(({ packet }) => Math.max(0, find(node, packet.from))),
    to: column(({ packet }) => find(node, packet.to)),
    cause: column(({ cause }) => find(ids, cause)),
    at: column(({ at }) => at),
    bytes: column(({ bytes }) => bytes),
    tokens: column(({ packet }) => packet.token_used),
    tool: column(({ tool = 0 }) => tool),
    afterTool: column(({ afterTool = 0 }) => afterTool),
    final: packets.flatMap(({ isFinal }, index) => (isFinal ? [index] : [])),
  };
}

/** Numbers the distinct names in their order. */
function indexNames(names: readonly string[]): Map<string, number> {
  return new Map([...new Set(names)].map((name, index) => [name, index]));
}
