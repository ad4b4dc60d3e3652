import { listCaveats, type RecordedPacket, type Recording } from '@gaia-mesh/core/recording/recording.ts';
import { toOneLine } from '../../terminal/table.ts';
import { formatCounted, formatMs } from '../wording.ts';
import type { ArchivedRun, TaskEnding } from './archived-run.ts';
import { buildPacketView, type LoggedPacket, type PacketView } from './packet-view.ts';
import { createPacketWriter, type PacketWriter } from './packet-writer.ts';

/** One run's packets on the page: enough to look into any task of a usual batch, and the page still opens at once. */
const MAX_TASKS = 200;
const MAX_PACKETS_PER_TASK = 200;
/** Texts and bytes of packets. The first task is there whatever its size, which the bounds above and a packet's own hold. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

export interface TaskView {
  readonly id: string;
  readonly question: string | null;
  readonly ending: string;
  readonly packets: readonly PacketView[];
  /** Packets that are not on the page. */
  readonly packetsLeft: number;
}

export interface TasksView {
  readonly agents: readonly { readonly id: string; readonly tool: string }[];
  readonly tasks: readonly TaskView[];
  /** Notes on omitted parts of the run and on the bytes; may be empty. */
  readonly notes: readonly string[];
  readonly writtenWith: string;
}

/** The tasks of a run with their packets, decoded and as bytes, as many as a page should hold. */
export async function buildTasksView({ recording, endings }: ArchivedRun): Promise<TasksView | null> {
  if (recording === null) return null;
  const writer = await createPacketWriter(recording);
  const all = [...Map.groupBy(recording.packets, ({ packet }) => packet.task_id)];
  const takers = mapTakers(recording);
  const relayed = createRelayReader(recording);
  const tasks: TaskView[] = [];
  let characters = 0;
  for (const [id, packets] of all.slice(0, MAX_TASKS)) {
    const shown = sortEntries(packets.map((entry) => ({ ...entry, ...relayed(entry) })))
      .slice(0, MAX_PACKETS_PER_TASK)
      .map((entry) => buildPacketView(entry, takers.get(entry.packet.id) ?? [], writer));
    characters += shown.reduce((sum, packet) => sum + countCharacters(packet), 0);
    if (characters > MAX_CHARACTERS && tasks.length > 0) break;
    const question = readQuestion(packets.find(({ cause }) => cause === null));
    const packetsLeft = packets.length - shown.length;
    const ending = formatEnding(endings.get(id));
    tasks.push({ id: toOneLine(id, 256), question, ending, packets: shown, packetsLeft });
  }
  return {
    agents: recording.header.agents.map(({ id, tool }) => ({ id, tool: toOneLine(tool, 40) })),
    tasks,
    notes: [
      ...listCaveats(recording).map((text) => toOneLine(text, 300)),
      ...listNotes(tasks, all.length, writer),
    ],
    writtenWith: typeof writer === 'string' ? recording.header.adapter : writer.spec,
  };
}

/** Maps the id of a packet to the agents that sent something because of it. */
function mapTakers({ packets }: Recording): Map<string, string[]> {
  const takers = new Map<string, string[]>();
  for (const { cause, packet } of packets) {
    if (cause === null) continue;
    const list = takers.get(cause) ?? [];
    if (!list.includes(packet.from)) list.push(packet.from);
    takers.set(cause, list);
  }
  return takers;
}

/** Creates a reader of the hub's record of a packet; times count from the start of its task. */
function createRelayReader({ packets }: Recording): (entry: RecordedPacket) => LoggedPacket {
  const documents = packets.filter(({ cause }) => cause === null);
  const began = new Map(documents.map(({ packet, relayed }) => [packet.task_id, relayed?.arrivedUs]));
  return ({ packet, relayed }) => {
    const beganUs = began.get(packet.task_id);
    const atMs = beganUs === undefined || relayed === undefined ? null : (relayed.arrivedUs - beganUs) / 1000;
    return { atMs, bytes: relayed?.bytes ?? null };
  };
}

/** As they came to the hub, whose clock is one; where it did not say, as they are recorded. */
function sortEntries<Entry extends LoggedPacket>(entries: readonly Entry[]): readonly Entry[] {
  if (entries.some(({ atMs }) => atMs === null)) return entries;
  return entries.toSorted((a, b) => (a.atMs ?? 0) - (b.atMs ?? 0));
}

function readQuestion(opening: RecordedPacket | undefined): string | null {
  const question = opening?.packet.payload.question;
  return typeof question === 'string' ? toOneLine(question, 300) : null;
}

function formatEnding(ending: TaskEnding | undefined): string {
  if (ending === undefined) return '';
  const { status, answer, reason, elapsed_ms } = ending;
  if (answer !== null) return `“${toOneLine(answer, 300)}” in ${formatMs(elapsed_ms)}`;
  return reason === undefined ? status : `${status}: ${toOneLine(reason, 300)}`;
}

function countCharacters({ json, blob }: PacketView): number {
  return json.length + ('base64' in blob ? blob.base64.length : 0);
}

function listNotes(tasks: readonly TaskView[], all: number, writer: PacketWriter | string): string[] {
  const left = tasks.reduce((sum, task) => sum + task.packetsLeft, 0);
  return [
    ...(tasks.length < all
      ? [
          `The page holds the packets of the first ${tasks.length} of ${formatCounted(all, 'task')}; the archive has them all.`,
        ]
      : []),
    ...(left > 0
      ? [`${formatCounted(left, 'packet')} beyond the first ${MAX_PACKETS_PER_TASK} of a task are left out.`]
      : []),
    ...(typeof writer === 'string' ? [`No bytes are shown: ${toOneLine(writer, 300)}`] : []),
    ...(typeof writer !== 'string' && writer.caveat !== null ? [writer.caveat] : []),
  ];
}
