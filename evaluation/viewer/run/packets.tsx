import { useMemo, useState } from 'preact/hooks';
import type { ShownPacket, Traffic } from '../../report/page-data.ts';
import { LegendBar } from '../chart.tsx';
import { formatBytes, formatMs, nameAgent, toLine } from '../format.ts';
import { Lanes } from '../lanes.tsx';
import { Badge, Below, Card, Loaded, Source } from '../parts.tsx';
import { type Column, createFigure, ResultTable } from '../result-table.tsx';

interface PacketsProps {
  readonly traffic: Traffic;
  /** The only task whose packets are shown; null for all tasks. */
  readonly task: string | null;
  readonly onTask: (task: string | null) => void;
  /** Loads the content of a packet as JSON. */
  readonly load: (packet: ShownPacket) => Promise<string | null>;
  /** True while the run goes on: the table then begins with the last packets. */
  readonly isLive?: boolean;
}

/** The packets of a run: lanes over time with the opened packet beside them, and a table of all packets. */
export function Packets({ traffic, task, onTask, load, isLive = false }: PacketsProps) {
  const { agents, packets, isTimed } = traffic;
  const [selected, setSelected] = useState<ShownPacket | null>(null);
  const names = useMemo(
    () => new Map([['hub', 'hub'], ...agents.map((agent) => [agent.id, nameAgent(agent)] as const)]),
    [agents],
  );
  const ends = useMemo(() => listEnds(traffic), [packets]);
  const shown = useMemo(
    () => (task === null ? packets : packets.filter(({ task_id }) => task_id === task)),
    [packets, task],
  );
  const opened = selected !== null && shown.includes(selected) ? selected : null;
  const nameNode = (id: string | undefined) => (id === undefined ? 'all' : (names.get(id) ?? toLine(id, 60)));
  return (
    <>
      <Card
        size={opened === null ? 'wide' : 'main'}
        title={task === null ? 'From the document to the answer' : `The packets of ${toLine(task, 60)}`}
        nav="Packets"
        id="packets"
        about={`${isLive ? 'An' : 'A bar is a tool at work; an'} arrow is a packet going through the hub to the agents that took it up. Open one to read it.${isTimed ? '' : ' No hub timed these packets: they stand in their order.'}`}
        tools={
          task === null ? undefined : (
            <button type="button" onClick={() => onTask(null)}>
              All tasks
            </button>
          )
        }
      >
        <Lanes
          names={names}
          shown={shown}
          findEnds={(packet) => ends.get(packet) ?? HUB}
          selected={opened}
          onSelect={setSelected}
        />
      </Card>
      {opened === null ? null : (
        <Inspector traffic={traffic} packet={opened} nameNode={nameNode} load={load} onOpen={setSelected} />
      )}
      <Below packets={packets.length}>
        <Card title="Packets" id="packet-list">
          <PacketTable
            traffic={traffic}
            shown={isLive ? shown.toReversed() : shown}
            nameNode={nameNode}
            selected={opened}
            onSelect={setSelected}
          />
        </Card>
      </Below>
    </>
  );
}

const HUB: readonly string[] = ['hub'];

/**
 * Finds for each packet the agents that sent a packet because of it, or its recipients if no causes are known. Packets that ended a
 * task, and those that no agent took up, ended at the hub and are left out.
 */
function listEnds({ agents, packets }: Traffic): Map<ShownPacket, readonly string[]> {
  if (packets.every(({ cause }) => cause === undefined)) {
    const all = agents.map(({ id }) => id);
    return new Map(
      packets.flatMap((packet) => {
        const to = packet.to === undefined ? (packet.from === 'hub' ? all : []) : [packet.to];
        return to.length === 0 || packet.tag === 'final_answer' ? [] : [[packet, to] as const];
      }),
    );
  }
  const ends = new Map<ShownPacket, string[]>();
  for (const { cause, from } of packets) {
    const before = packets[cause ?? -1];
    if (before === undefined || before.tag === 'final_answer') continue;
    const own = ends.get(before);
    if (own === undefined) ends.set(before, [from]);
    else if (!own.includes(from)) own.push(from);
  }
  return ends;
}

interface InspectorProps extends Pick<PacketsProps, 'traffic' | 'load'> {
  readonly packet: ShownPacket;
  readonly nameNode: (id: string | undefined) => string;
  readonly onOpen: (packet: ShownPacket | null) => void;
}

/** One packet: its content, its cause, and how many of its bytes are not payload. */
function Inspector({ traffic, packet, nameNode, load, onOpen }: InspectorProps) {
  const { cause, atMs, toolMs = 0, bytes } = packet;
  const before = traffic.packets[cause ?? -1];
  const type = toLine(packet.type, 64);
  return (
    <Card
      size="side"
      title={type}
      tools={
        <button type="button" class="quiet" onClick={() => onOpen(null)}>
          Close
        </button>
      }
      about={
        <>
          {`${nameNode(packet.from)} → ${nameNode(packet.to)}`}
          {traffic.isTimed ? `, at ${formatMs(atMs)}` : ''}
          {toolMs > 0 ? `, ${formatMs(toolMs)} in its tool` : ''}
          {before === undefined ? '.' : ', because of '}
          {before === undefined ? null : (
            <button type="button" class="quiet" onClick={() => onOpen(before)}>
              {toLine(before.type, 64)}
            </button>
          )}
        </>
      }
    >
      <Loaded
        label={`Packet ${type}`}
        of={packet}
        load={() => load(packet)}
        missing="The contents of this packet are not here; the archive has them."
        show={(text) => (
          <>
            <SizeBar bytes={bytes} text={text} />
            <Source text={text} label={`Packet ${type}`} />
          </>
        )}
      />
    </Card>
  );
}

/** A bar of the bytes of a packet: its payload, and the rest of its frame. */
function SizeBar({ bytes, text }: { readonly bytes: number; readonly text: string }) {
  const payload = measurePayload(text);
  if (payload === null || bytes === 0) return null;
  const around = bytes - payload;
  return (
    <LegendBar
      label="Bytes of the packet"
      parts={[
        { name: 'payload', hue: '--s1', value: payload, text: formatBytes(payload) },
        {
          name: around < 0 ? 'saved by the coding' : 'around it',
          hue: '--s2',
          value: around,
          text: formatBytes(Math.abs(around)),
        },
      ]}
    />
  );
}

/** Returns the bytes of a packet's payload as compact JSON, as the ledger counts them; null for a text that is cut. */
function measurePayload(text: string): number | null {
  try {
    return new TextEncoder().encode(JSON.stringify(JSON.parse(text).payload)).length;
  } catch {
    return null;
  }
}

interface PacketTableProps extends Pick<InspectorProps, 'traffic' | 'nameNode'> {
  readonly shown: readonly ShownPacket[];
  readonly selected: ShownPacket | null;
  readonly onSelect: (packet: ShownPacket | null) => void;
}

function PacketTable({ traffic, shown, nameNode, selected, onSelect }: PacketTableProps) {
  const { packets, isTimed } = traffic;
  const hasTasks = packets.some(({ task_id }) => task_id !== packets[0]?.task_id);
  const columns: Column<ShownPacket>[] = [
    {
      header: 'packet',
      value: ({ type }) => toLine(type, 64),
      cell: ({ type, tag }) => (
        <>
          {toLine(type, 64)}
          {tag === 'final_answer' ? <Badge tone="good">final answer</Badge> : null}
        </>
      ),
    },
    { header: 'from', value: ({ from }) => nameNode(from) },
    { header: 'to', value: ({ to }) => nameNode(to), rank: 1 },
    createFigure(
      'at',
      ({ atMs }) => (isTimed ? atMs : null),
      formatMs,
      'when the hub had it, since the first packet',
    ),
    { header: 'bytes', value: ({ bytes }) => bytes, explain: 'its frame, as the sender wrote it' },
    createFigure('in the tool', ({ toolMs = 0 }) => toolMs || null, formatMs, 'by the agent’s own clock', 1),
    createFigure(
      'in the mesh',
      ({ atMs, toolMs = 0, cause }) => {
        const before = packets[cause ?? -1];
        return isTimed && before !== undefined ? atMs - before.atMs - toolMs : null;
      },
      formatMs,
      'from the arrival of its cause until its own, without the tool',
      1,
    ),
    {
      header: 'tokens',
      value: ({ token_used }) => token_used || null,
      explain: 'tokens that its sender reported with it',
      rank: 1,
    },
    { header: 'task', value: ({ task_id }) => (hasTasks ? task_id : null), rank: 1 },
  ];
  return (
    <ResultTable
      label="Packets"
      rows={shown}
      columns={columns}
      opened={selected ?? undefined}
      onOpen={(packet) => onSelect(packet === selected ? null : packet)}
    />
  );
}
