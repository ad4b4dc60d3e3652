import { useMemo, useState } from 'preact/hooks';
import type { PacketColumns } from '../../report/run/packet-columns.ts';
import { LegendBar } from '../chart.tsx';
import { formatBytes, formatMs, toLine } from '../format.ts';
import { Lanes, nameNode } from '../lanes.tsx';
import { Badge, Below, Card, Loaded, Source } from '../parts.tsx';
import { type Column, createCount, ResultTable } from '../result-table.tsx';

interface PacketsProps {
  readonly packets: PacketColumns;
  /** The only task whose packets are shown; null for all tasks. */
  readonly task: string | null;
  readonly onTask: (task: string | null) => void;
  /** Loads the content of a packet as JSON. */
  readonly load: (packet: number) => Promise<string | null>;
  /** True while the run goes on: the table then begins with the last packets. */
  readonly isLive?: boolean;
}

/** The packets of a run: lanes over time with the opened packet beside them, and a table of all packets. */
export function Packets({ packets, task, onTask, load, isLive = false }: PacketsProps) {
  const [selected, setSelected] = useState<number | null>(null);
  const takers = useMemo(() => listTakers(packets), [packets]);
  const shown = useMemo(() => {
    const index = task === null ? -1 : packets.tasks.indexOf(task);
    const all = packets.at.map((_, packet) => packet);
    return index < 0 ? all : all.filter((packet) => packets.task[packet] === index);
  }, [packets, task]);
  const finals = useMemo(() => new Set(packets.final), [packets]);
  const opened = selected !== null && shown.includes(selected) ? selected : null;
  return (
    <>
      <Card
        size={opened === null ? 'wide' : 'main'}
        title={task === null ? 'From the document to the answer' : `The packets of ${toLine(task, 60)}`}
        nav="Packets"
        id="packets"
        about={`${isLive ? 'An' : 'A bar is a tool at work; an'} arrow is a packet going through the hub to the agents that took it up. Open one to read it.${packets.isTimed ? '' : ' No hub timed these packets: they stand in their order.'}`}
        tools={
          task === null ? undefined : (
            <button type="button" onClick={() => onTask(null)}>
              All tasks
            </button>
          )
        }
      >
        <Lanes
          flow={packets}
          shown={shown}
          ends={(packet) => takers[packet] ?? NOBODY}
          isFinal={(packet) => finals.has(packet)}
          selected={opened}
          onSelect={setSelected}
        />
      </Card>
      {opened === null ? null : (
        <Inspector
          packets={packets}
          packet={opened}
          load={load}
          onClose={() => setSelected(null)}
          onOpen={setSelected}
        />
      )}
      <Below packets={packets.at.length}>
        <Card title="Packets" id="packet-list">
          <PacketTable
            packets={packets}
            shown={isLive ? shown.toReversed() : shown}
            selected={opened}
            onSelect={setSelected}
          />
        </Card>
      </Below>
    </>
  );
}

const NOBODY: readonly number[] = [];

/** Lists for each packet the nodes that sent a packet because of it, or its recipients if no causes are known. */
function listTakers({ nodes, cause, from, to }: PacketColumns): readonly (readonly number[])[] {
  const agents = nodes.map((_, node) => node).slice(1);
  if (!cause.some((before) => before >= 0))
    return to.map((node, packet) => (node >= 0 ? [node] : from[packet] === 0 ? agents : NOBODY));
  const takers: number[][] = cause.map(() => []);
  for (let packet = 0; packet < cause.length; packet++) {
    const own = takers[cause[packet] ?? -1];
    const sender = from[packet] ?? 0;
    if (own !== undefined && !own.includes(sender)) own.push(sender);
  }
  return takers;
}

function nameType({ types, type }: PacketColumns, packet: number): string {
  return toLine(types[type[packet] ?? 0] ?? '', 64);
}

interface InspectorProps extends Pick<PacketsProps, 'packets' | 'load'> {
  readonly packet: number;
  readonly onClose: () => void;
  readonly onOpen: (packet: number) => void;
}

/** One packet: its content, its cause, and how many of its bytes are not payload. */
function Inspector({ packets, packet, load, onClose, onOpen }: InspectorProps) {
  const { at, bytes, cause, tool, isTimed, from } = packets;
  const to = packets.to[packet] ?? -1;
  const before = cause[packet] ?? -1;
  const type = nameType(packets, packet);
  const size = bytes[packet] ?? 0;
  return (
    <Card
      size="side"
      title={type}
      tools={
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      }
      about={
        <>
          {`${nameNode(packets, from[packet] ?? 0)} → ${to < 0 ? 'all' : nameNode(packets, to)}`}
          {isTimed ? `, at ${formatMs((at[packet] ?? 0) / 1000)}` : ''}
          {(tool[packet] ?? 0) > 0 ? `, ${formatMs((tool[packet] ?? 0) / 1000)} in its tool` : ''}
          {before < 0 ? '.' : ', because of '}
          {before < 0 ? null : (
            <button type="button" class="quiet" onClick={() => onOpen(before)}>
              {nameType(packets, before)}
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
            <SizeBar bytes={size} text={text} />
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

interface PacketTableProps extends Pick<PacketsProps, 'packets'> {
  readonly shown: readonly number[];
  readonly selected: number | null;
  readonly onSelect: (packet: number | null) => void;
}

function PacketTable({ packets, shown, selected, onSelect }: PacketTableProps) {
  const { cause, at, isTimed, tool, task, tasks } = packets;
  const finals = new Set(packets.final);
  const columns: Column<number>[] = [
    {
      header: 'packet',
      value: (packet) => nameType(packets, packet),
      cell: (packet) => (
        <>
          {nameType(packets, packet)}
          {finals.has(packet) ? <Badge tone="good">final answer</Badge> : null}
        </>
      ),
    },
    { header: 'from', value: (packet) => nameNode(packets, packets.from[packet] ?? 0) },
    {
      header: 'to',
      isWide: true,
      value: (packet) =>
        (packets.to[packet] ?? -1) < 0 ? 'all' : nameNode(packets, packets.to[packet] ?? 0),
    },
    {
      header: 'at',
      isNumber: true,
      value: (packet) => (isTimed ? (at[packet] ?? 0) / 1000 : null),
      format: formatMs,
      explain: 'When the hub had it, since the first packet.',
    },
    createCount('bytes', (packet) => packets.bytes[packet] ?? 0, 'Its frame, as the sender wrote it.'),
    {
      header: 'in the tool',
      isNumber: true,
      isWide: true,
      value: (packet) => ((tool[packet] ?? 0) > 0 ? (tool[packet] ?? 0) / 1000 : null),
      format: formatMs,
      explain: 'By the agent’s own clock.',
    },
    {
      header: 'in the mesh',
      isNumber: true,
      isWide: true,
      value: (packet) => {
        const before = cause[packet] ?? -1;
        if (!isTimed || before < 0) return null;
        return ((at[packet] ?? 0) - (at[before] ?? 0) - (tool[packet] ?? 0)) / 1000;
      },
      format: formatMs,
      explain: 'From the arrival of its cause until its own, without the tool.',
    },
    {
      ...createCount(
        'tokens',
        (packet) => packets.tokens[packet] || null,
        'Tokens that its sender reported with it.',
      ),
      isWide: true,
    },
    {
      header: 'task',
      isWide: true,
      value: (packet) => (tasks.length > 1 ? toLine(tasks[task[packet] ?? 0] ?? '', 60) : null),
    },
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
