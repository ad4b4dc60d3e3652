import { useMemo, useState } from 'preact/hooks';
import type { PacketColumns, PacketDetail, RunData } from '../../report/run/run-data.ts';
import { formatBytes, formatCount, formatMs, toLine } from '../format.ts';
import { type Flow, Lanes } from '../lanes.tsx';
import { Badge, Card, Choice, Later, Select, Source } from '../parts.tsx';
import { type Column, createCount, ResultTable } from '../result-table.tsx';
import { BYTE_PARTS, LineBar } from './bytes.tsx';

interface PacketsProps {
  readonly run: RunData;
  readonly task: string | null;
  readonly onTask: (task: string | null) => void;
}

/** The packets of a run: lanes over time, the packet that was opened beside them, and all packets as a table. */
export function Packets({ run, task, onTask }: PacketsProps) {
  const { packets, tasks } = run;
  const [selected, setSelected] = useState<number | null>(null);
  const takers = useMemo(() => (packets === null ? [] : listTakers(packets)), [packets]);
  const flow = useMemo(() => (packets === null ? null : toFlow(packets)), [packets]);
  const shown = useMemo(
    () => (packets === null ? [] : choosePackets(packets, tasks, task)),
    [packets, tasks, task],
  );
  const finals = useMemo(() => new Set(packets?.final ?? []), [packets]);
  if (packets === null || flow === null)
    return (
      <Card title="From the document to the answer">
        <p class="about">This run was too long to be recorded, so there are no packets to look into.</p>
      </Card>
    );
  const opened = selected !== null && shown.includes(selected) ? selected : null;
  const chosen = tasks.find(({ id }) => id === task);
  return (
    <>
      <Card
        size={opened === null ? 'wide' : 'main'}
        title="From the document to the answer"
        nav="Packets"
        id="packets"
        about={
          <>
            A bar is a tool at work; an arrow is a packet going through the hub to the agents that took it up.
            Open one to read it.
            {packets.isTimed ? '' : ' No hub timed these packets: they stand in their order.'}
            {chosen?.question == null ? null : (
              <span class="asked">{` ${toLine(chosen.question, 300)}`}</span>
            )}
          </>
        }
        tools={
          tasks.length > 1 ? (
            <Select
              label="Task"
              value={task ?? ''}
              options={[
                ['', `all ${formatCount(tasks.length)} tasks`],
                ...tasks
                  .filter(({ id }, index) => index < MAX_CHOICES || id === task)
                  .map(({ id, question }): [string, string] => [
                    id,
                    question === null ? id : toLine(`${id} · ${question}`, 80),
                  ]),
              ]}
              onChange={(id) => onTask(id === '' ? null : id)}
            />
          ) : undefined
        }
      >
        <Lanes
          flow={flow}
          shown={shown}
          ends={(packet) => takers[packet] ?? NOBODY}
          isFinal={(packet) => finals.has(packet)}
          selected={opened}
          onSelect={setSelected}
        />
      </Card>
      {opened === null ? null : (
        <Inspector
          run={run}
          packets={packets}
          packet={opened}
          onClose={() => setSelected(null)}
          onOpen={setSelected}
        />
      )}
      <Later>
        <Card title="Packets" id="packet-list">
          <PacketTable run={run} packets={packets} shown={shown} selected={opened} onSelect={setSelected} />
        </Card>
      </Later>
    </>
  );
}

/** Tasks that a list offers; the table of answers leads to the others. */
const MAX_CHOICES = 500;
const NOBODY: readonly number[] = [];

const detailsOfRuns = new WeakMap<RunData, readonly PacketDetail[]>();

/** Parses the contents of a run's packets when they are asked for. */
function readDetails(run: RunData): readonly PacketDetail[] {
  const details = detailsOfRuns.get(run) ?? JSON.parse(run.details);
  detailsOfRuns.set(run, details);
  return details;
}

/** Lists for each packet the nodes that sent something because of it. */
function listTakers({ cause, from }: PacketColumns): number[][] {
  const takers: number[][] = cause.map(() => []);
  for (let packet = 0; packet < cause.length; packet++) {
    const own = takers[cause[packet] ?? -1];
    const sender = from[packet] ?? 0;
    if (own !== undefined && !own.includes(sender)) own.push(sender);
  }
  return takers;
}

function toFlow(packets: PacketColumns): Flow {
  return {
    ...packets,
    nodes: packets.nodes.map(({ id, tool }) => ({ id, label: `${id} ${tool}`.trim() })),
  };
}

function choosePackets(
  { task: of, at }: PacketColumns,
  tasks: RunData['tasks'],
  task: string | null,
): number[] {
  const index = tasks.findIndex(({ id }) => id === task);
  const all = at.map((_, packet) => packet);
  return index < 0 ? all : all.filter((packet) => of[packet] === index);
}

interface InspectorProps {
  readonly run: RunData;
  readonly packets: PacketColumns;
  readonly packet: number;
  readonly onClose: () => void;
  readonly onOpen: (packet: number) => void;
}

/** One packet: what it says, as text and as bytes, and what it came of. */
function Inspector({ run, packets, packet, onClose, onOpen }: InspectorProps) {
  const [view, setView] = useState(0);
  const detail = readDetails(run)[packet];
  const { nodes, types, at, bytes, cause, tool, isTimed } = packets;
  const nameNode = (index: number | undefined) => {
    const node = nodes[index ?? 0];
    return toLine(`${node?.id ?? ''} ${node?.tool ?? ''}`, 40);
  };
  const to = packets.to[packet] ?? -1;
  const before = cause[packet] ?? -1;
  return (
    <Card
      size="side"
      title={types[packets.type[packet] ?? 0] ?? 'packet'}
      tools={
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      }
      about={
        <>
          {`${nameNode(packets.from[packet])} → ${to < 0 ? 'all' : nameNode(to)}`}
          {isTimed ? `, at ${formatMs((at[packet] ?? 0) / 1000)}` : ''}
          {`, ${formatBytes(bytes[packet] ?? 0)}`}
          {(tool[packet] ?? 0) > 0 ? `, ${formatMs((tool[packet] ?? 0) / 1000)} in its tool` : ''}
          {before < 0 ? '. It opens the task.' : ', because of '}
          {before < 0 ? null : (
            <button type="button" class="quiet" onClick={() => onOpen(before)}>
              {toLine(types[packets.type[before] ?? 0] ?? '', 40)}
            </button>
          )}
        </>
      }
    >
      {detail === undefined ? (
        <p class="about">The contents of this packet are not on the page; the archive has them.</p>
      ) : (
        <>
          {detail.line === null ? null : <LineBar line={detail.line} />}
          <Choice label="Shown as" names={['Text', 'Bytes']} chosen={view} onChoice={setView} />
          {view === 0 ? (
            <TextView detail={detail} />
          ) : (
            <ByteView detail={detail} writtenWith={run.writtenWith} />
          )}
        </>
      )}
    </Card>
  );
}

function TextView({ detail: { id, json, jsonLeft } }: { readonly detail: PacketDetail }) {
  return (
    <>
      <Source text={json} label={`Packet ${id}`} />
      {jsonLeft === 0 ? null : <p class="about">{`… and ${formatCount(jsonLeft)} more characters`}</p>}
    </>
  );
}

function ByteView({ detail: { id, blob }, writtenWith }: { detail: PacketDetail; writtenWith: string }) {
  if ('fault' in blob) return <p class="about">{`No bytes: ${toLine(blob.fault, 300)}`}</p>;
  const bytes = Uint8Array.from(atob(blob.base64), (character) => character.charCodeAt(0));
  return (
    <>
      <p class="about">{`${formatCount(blob.bytes)} bytes of ${toLine(writtenWith, 60)}`}</p>
      <Source text={formatHex(bytes)} label={`Bytes of packet ${id}`} />
      {blob.left === 0 ? null : <p class="about">{`… and ${formatCount(blob.left)} more bytes`}</p>}
    </>
  );
}

/** Bytes of a line of the dump: as many as fit beside the lanes. */
const LINE_BYTES = 8;

function formatHex(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += LINE_BYTES) {
    const part = [...bytes.subarray(at, at + LINE_BYTES)];
    const hex = part.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = part.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(4, '0')}  ${hex.padEnd(LINE_BYTES * 3 - 1)}  ${text}`);
  }
  return lines.join('\n');
}

interface PacketTableProps {
  readonly run: RunData;
  readonly packets: PacketColumns;
  readonly shown: readonly number[];
  readonly selected: number | null;
  readonly onSelect: (packet: number | null) => void;
}

function PacketTable({ run, packets, shown, selected, onSelect }: PacketTableProps) {
  const { nodes, types, cause, at, isTimed } = packets;
  const nameNode = (index: number) => toLine(nodes[index]?.tool || (nodes[index]?.id ?? ''), 40);
  const finals = new Set(packets.final);
  const lineOf = (packet: number) => readDetails(run)[packet]?.line;
  const columns: Column<number>[] = [
    {
      header: 'packet',
      value: (packet) => types[packets.type[packet] ?? 0] ?? '',
      cell: (packet) => (
        <>
          {toLine(types[packets.type[packet] ?? 0] ?? '', 64)}
          {finals.has(packet) ? <Badge tone="good">final answer</Badge> : null}
        </>
      ),
    },
    { header: 'from', value: (packet) => nameNode(packets.from[packet] ?? 0) },
    {
      header: 'to',
      isWide: true,
      value: (packet) => ((packets.to[packet] ?? -1) < 0 ? 'all' : nameNode(packets.to[packet] ?? 0)),
    },
    {
      header: 'at',
      isNumber: true,
      value: (packet) => (isTimed ? (at[packet] ?? 0) / 1000 : null),
      format: formatMs,
      explain: 'When the hub had it, since the first packet.',
    },
    createCount('bytes', (packet) => packets.bytes[packet] ?? 0, 'Its frame, as the sender wrote it.'),
    ...BYTE_PARTS.slice(0, 3).map(
      ({ key, name, explain }): Column<number> => ({
        header: name,
        explain,
        isNumber: true,
        isWide: true,
        value: (packet) => lineOf(packet)?.[key] ?? null,
        format: formatCount,
      }),
    ),
    {
      header: 'in the tool',
      isNumber: true,
      isWide: true,
      value: (packet) => ((packets.tool[packet] ?? 0) > 0 ? (packets.tool[packet] ?? 0) / 1000 : null),
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
        return ((at[packet] ?? 0) - (at[before] ?? 0) - (packets.tool[packet] ?? 0)) / 1000;
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

interface Link {
  readonly from: number;
  readonly to: number;
  packets: number;
  bytes: number;
}

/** Links of a team grow with its square. */
const MAX_TEAM = 500;

/** Traffic from one node to another, copies included: a packet to all is on as many links as it has recipients. */
export function LinksCard({ packets }: { readonly packets: PacketColumns | null }) {
  const links = useMemo(() => (packets === null ? [] : listLinks(packets)), [packets]);
  if (packets === null || links.length === 0) return null;
  const total = links.reduce((sum, { bytes }) => sum + bytes, 0);
  const [largest] = links;
  const nameNode = (index: number) => {
    const { id = '', tool = '' } = packets.nodes[index] ?? {};
    return toLine(`${id} ${tool}`, 40);
  };
  const columns: Column<Link>[] = [
    { header: 'from', value: ({ from }) => nameNode(from) },
    { header: 'to', value: ({ to }) => nameNode(to) },
    createCount('packets', (link) => link.packets, 'Packets from the one to the other, copies included.'),
    createCount('bytes', ({ bytes }) => bytes, 'Frames of these packets.'),
    {
      header: 'share',
      value: () => '',
      cell: ({ bytes }) => (
        <span class="meter">
          <i style={{ width: `${(bytes / Math.max(1, largest?.bytes ?? 1)) * 100}%` }} />
        </span>
      ),
    },
  ];
  return (
    <Card
      title="Who talked to whom"
      id="links"
      about={`${formatBytes(total)} on ${formatCount(links.length)} links, copies included. The busiest is ${nameNode(largest?.from ?? 0)} → ${nameNode(largest?.to ?? 0)}.`}
    >
      <ResultTable label="Who talked to whom" rows={links} columns={columns} atFirst={8} />
    </Card>
  );
}

function listLinks({ nodes, from, to, bytes, isDirect, isTimed }: PacketColumns): Link[] {
  if (!isTimed || nodes.length > MAX_TEAM) return [];
  const links = new Map<number, Link>();
  const add = (sender: number, node: number, packets: number, size: number) => {
    const key = sender * nodes.length + node;
    const link = links.get(key) ?? { from: sender, to: node, packets: 0, bytes: 0 };
    link.packets += packets;
    link.bytes += size;
    links.set(key, link);
  };
  const toAll = nodes.map(() => ({ packets: 0, bytes: 0 }));
  for (let packet = 0; packet < from.length; packet++) {
    const sender = from[packet] ?? 0;
    const addressee = isDirect ? (to[packet] ?? -1) : -1;
    const all = toAll[sender];
    if (addressee >= 0) add(sender, addressee, 1, bytes[packet] ?? 0);
    else if (all !== undefined) {
      all.packets += 1;
      all.bytes += bytes[packet] ?? 0;
    }
  }
  for (const [sender, all] of toAll.entries())
    for (let node = 1; node < nodes.length; node++)
      if (all.packets > 0 && node !== sender) add(sender, node, all.packets, all.bytes);
  return [...links.values()].sort((a, b) => b.bytes - a.bytes);
}
