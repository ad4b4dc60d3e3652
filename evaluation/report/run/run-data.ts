import { isDeepStrictEqual } from 'node:util';
import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { type LedgerLine, measureLine } from '@gaia-mesh/core/contracts/ledger.ts';
import { FINAL_ANSWER, HUB_ID, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { formatWarning } from '@gaia-mesh/core/contracts/warning.ts';
import { listCaveats, type RecordedPacket, type Recording } from '@gaia-mesh/core/recording/recording.ts';
import { Timeline } from '@gaia-mesh/core/recording/timeline.ts';
import type { RunMetrics } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import { openMembers } from '@gaia-mesh/core/wire/members.ts';
import { findStage } from '@gaia-mesh/protocols/layers/registry.ts';
import { checkSpec, loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import { toAttemptId } from '../../questions/question.ts';
import { count, toOneLine } from '../../terminal/table.ts';
import { type ShownAttempt, showAttempt } from '../shown-attempt.ts';
import type { ArchivedRun, Provenance } from './archived-run.ts';

/** Packets of a run on its page, which draws as many without delay. */
const MAX_PACKETS = 100_000;
/** Packets whose contents are on the page. */
const MAX_DETAILS = 5_000;
/** Contents of packets, as characters of JSON and of base64. */
const MAX_CHARACTERS = 4 * 1024 * 1024;
/** Characters of one packet's JSON, and its bytes, so that it opens at once. */
const MAX_JSON_CHARACTERS = 16 * 1024;
const MAX_HEX_BYTES = 4 * 1024;
/** Answers of a batch on the page, which opens in about a second. */
const MAX_RESULTS = 2_000;
/** Characters of one attempt's reasoning, and of all of them together. */
const MAX_TRACE_CHARACTERS = 8_000;
const TRACE_CHARACTERS = 2 * 1024 * 1024;

/** A run as its page gets it: what was measured, as it was written, and no words beyond those that the terminal has, too. */
export interface RunData {
  readonly metrics: RunMetrics;
  readonly made: Provenance;
  /** Losses of servers, agents and models outside of the mesh, in words. */
  readonly warnings: readonly string[];
  readonly tasks: readonly TaskData[];
  readonly results: readonly AnswerRow[];
  /** null for a run that was too long to be recorded. */
  readonly packets: PacketColumns | null;
  /** Contents of the first packets as JSON, a `PacketDetail` each: a page parses them after it was drawn. */
  readonly details: string;
  /** Sentences on what the page does not hold, and on bytes that are not those of the run. */
  readonly notes: readonly string[];
  /** The adapter that wrote the shown bytes. */
  readonly writtenWith: string;
  readonly logs: ArchivedRun['logs'];
}

interface AnswerRow extends ShownAttempt {
  /** Id of the attempt, which the packets name as their task. */
  readonly id: string;
}

interface TaskData {
  readonly id: string;
  readonly question: string | null;
}

/** The packets of a run in the order in which the hub had them, one list for each property. */
export interface PacketColumns {
  readonly nodes: readonly { readonly id: string; readonly tool: string }[];
  readonly types: readonly string[];
  readonly isDirect: boolean;
  /** Indexes of tasks, types and nodes; `to` is -1 for a packet to all. */
  readonly task: readonly number[];
  readonly type: readonly number[];
  readonly from: readonly number[];
  readonly to: readonly number[];
  /** Index of the packet that caused it, -1 for a document. */
  readonly cause: readonly number[];
  /** Microseconds since the first packet at which the hub had it. Where no hub recorded it, its place in the order. */
  readonly at: readonly number[];
  readonly isTimed: boolean;
  readonly bytes: readonly number[];
  readonly tokens: readonly number[];
  /** Microseconds in the sender's tool, and from their end to `at`. */
  readonly tool: readonly number[];
  readonly afterTool: readonly number[];
  /** Indexes of the packets that ended a task. */
  readonly final: readonly number[];
}

export interface PacketDetail {
  readonly id: string;
  readonly tag: string | null;
  readonly json: string;
  readonly jsonLeft: number;
  /** The bytes on the wire, or why there are none to show. */
  readonly blob:
    | { readonly base64: string; readonly bytes: number; readonly left: number }
    | { readonly fault: string };
  /** The purposes of its bytes, where they are those of the run. */
  readonly line: LedgerLine | null;
}

export async function buildRunData(run: ArchivedRun): Promise<RunData> {
  const { metrics, made, recording, results, logs } = run;
  const room = Math.min(MAX_TRACE_CHARACTERS, Math.floor(TRACE_CHARACTERS / Math.max(1, results.length)));
  const shown = results.slice(0, MAX_RESULTS).map((attempt) => ({
    ...showAttempt(attempt, room),
    id: toAttemptId(attempt.task_id, attempt.cycle),
  }));
  const common = {
    metrics,
    made,
    logs,
    results: shown,
    warnings: metrics.warnings.map((warning) => toOneLine(formatWarning(warning), 600)),
  };
  const noteLeft = (what: string, held: number, all: number) =>
    held < all
      ? [`The page holds the first ${count(held)} of ${count(all)} ${what}; the archive has them all.`]
      : [];
  const notes = noteLeft('answers', shown.length, results.length);
  if (recording === null)
    return { ...common, notes, tasks: [], packets: null, details: '[]', writtenWith: metrics.adapter };
  const writer = await createPacketWriter(recording);
  const entries = sortEntries(recording.packets).slice(0, MAX_PACKETS);
  const documents = Map.groupBy(entries, ({ packet }) => packet.task_id);
  const ids = [...documents.keys()];
  const details = listDetails(entries, writer);
  return {
    ...common,
    tasks: ids.map((id) => ({
      id: toOneLine(id, 256),
      question: readQuestion(documents.get(id)?.find(({ cause }) => cause === null)),
    })),
    packets: toColumns(recording, entries, ids),
    details: JSON.stringify(details),
    writtenWith: typeof writer === 'string' ? recording.header.adapter : writer.spec,
    notes: [
      ...notes,
      ...listCaveats(recording).map((text) => toOneLine(text, 300)),
      ...noteLeft('packets', entries.length, recording.packets.length),
      ...(details.length < entries.length
        ? [
            `Contents and bytes are those of the first ${count(details.length)} of ${count(entries.length)} packets; the archive has the others.`,
          ]
        : []),
      ...(typeof writer === 'string' ? [`No bytes are shown: ${toOneLine(writer, 300)}`] : []),
      ...(typeof writer !== 'string' && writer.caveat !== null ? [writer.caveat] : []),
    ],
  };
}

/** Sorts packets as they came to the hub, whose clock is one; where it did not say, they stay as they are recorded. */
function sortEntries(entries: readonly RecordedPacket[]): readonly RecordedPacket[] {
  if (entries.some(({ relayed }) => relayed === undefined)) return entries;
  return entries.toSorted((a, b) => (a.relayed?.arrivedUs ?? 0) - (b.relayed?.arrivedUs ?? 0));
}

function toColumns(
  recording: Recording,
  entries: readonly RecordedPacket[],
  tasks: readonly string[],
): PacketColumns {
  const { agents, routing } = recording.header;
  const nodes = [
    { id: HUB_ID, tool: '' },
    ...agents.map(({ id, tool }) => ({ id, tool: toOneLine(tool, 40) })),
  ];
  const nodeIndex = indexNames(nodes.map(({ id }) => id));
  const taskIndex = indexNames(tasks);
  const packetIndex = indexNames(entries.map(({ packet }) => packet.id));
  const types = [...new Set(entries.map(({ packet }) => packet.type))];
  const typeIndex = indexNames(types);
  const isTimed = entries.every(({ relayed }) => relayed !== undefined);
  const startUs = entries[0]?.relayed?.arrivedUs ?? 0;
  const timeline = new Timeline(recording.packets);
  const column = (read: (entry: RecordedPacket, index: number) => number) => entries.map(read);
  return {
    nodes,
    types: types.map((type) => toOneLine(type, 64)),
    isDirect: routing === 'direct',
    isTimed,
    task: column(({ packet }) => taskIndex.get(packet.task_id) ?? 0),
    type: column(({ packet }) => typeIndex.get(packet.type) ?? 0),
    from: column(({ packet }) => nodeIndex.get(packet.from) ?? 0),
    to: column(({ packet: { to } }) => (to === undefined ? -1 : (nodeIndex.get(to) ?? -1))),
    cause: column(({ cause }) => (cause === null ? -1 : (packetIndex.get(cause) ?? -1))),
    at: column(({ relayed }, index) =>
      isTimed && relayed !== undefined ? Math.round(relayed.arrivedUs - startUs) : index * 1000,
    ),
    bytes: column(({ relayed }) => relayed?.bytes ?? 0),
    tokens: column(({ packet }) => packet.token_used),
    tool: column(({ cause, toolUs }) => (isTimed && cause !== null ? Math.round(toolUs ?? 0) : 0)),
    // The way to an agent and back are measured together: each is taken for half of it.
    afterTool: column((entry) => {
      const parts = timeline.measurePiece(entry)?.parts;
      return parts === undefined ? 0 : Math.round(parts.encode + (parts.wire + parts.agent) / 2);
    }),
    final: entries.flatMap(({ packet }, index) => (packet.tag === FINAL_ANSWER ? [index] : [])),
  };
}

function indexNames(names: readonly string[]): Map<string, number> {
  return new Map(names.map((name, index) => [name, index]));
}

function readQuestion(opening: RecordedPacket | undefined): string | null {
  const question = opening?.packet.payload.question;
  return typeof question === 'string' ? toOneLine(question, 300) : null;
}

function listDetails(entries: readonly RecordedPacket[], writer: PacketWriter | string): PacketDetail[] {
  const details: PacketDetail[] = [];
  let characters = 0;
  for (const { packet } of entries.slice(0, MAX_DETAILS)) {
    const json = JSON.stringify(packet, null, 2);
    const written = writePacket(packet, writer);
    characters +=
      Math.min(json.length, MAX_JSON_CHARACTERS) +
      ('base64' in written.blob ? written.blob.base64.length : 0);
    // The first packets are there whatever their size, which a packet's own bounds hold.
    if (characters > MAX_CHARACTERS && details.length > 2) break;
    details.push({
      id: packet.id,
      tag: packet.tag === undefined ? null : toOneLine(packet.tag, 64),
      json: json.slice(0, MAX_JSON_CHARACTERS),
      jsonLeft: Math.max(0, json.length - MAX_JSON_CHARACTERS),
      ...written,
    });
  }
  return details;
}

function writePacket(packet: Packet, writer: PacketWriter | string): Pick<PacketDetail, 'blob' | 'line'> {
  if (typeof writer === 'string') return { blob: { fault: writer }, line: null };
  try {
    const { blob, line } = writer.write(packet);
    const shown = Buffer.from(blob.buffer, blob.byteOffset, Math.min(blob.length, MAX_HEX_BYTES));
    return {
      blob: { base64: shown.toString('base64'), bytes: blob.length, left: blob.length - shown.length },
      line: writer.isExact ? line : null,
    };
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return { blob: { fault: toErrorMessage(error) }, line: null };
  }
}

/** Writes a run's packets again, as its adapter does. */
interface PacketWriter {
  /** Spec that writes the bytes: the run's adapter, or the part of it that needs no keys. */
  readonly spec: string;
  /** The bytes follow from the packet alone, so they are those of the run. */
  readonly isExact: boolean;
  /** Why they are not, for people. */
  readonly caveat: string | null;
  /** @throws MeshError where the adapter refuses the packet */
  write(packet: Packet): { readonly blob: Uint8Array; readonly line: LedgerLine };
}

/** Creates a writer of the run's packets, or says why there is none: a user's own adapter is not part of this program. */
async function createPacketWriter(recording: Recording): Promise<PacketWriter | string> {
  try {
    return await openWriter(recording);
  } catch (error) {
    if (error instanceof MeshError) return toErrorMessage(error);
    throw error;
  }
}

/**
 * A run's keys end with it. Layers that sign or encrypt are therefore left out, with all that is around them; an adapter that
 * itself has keys writes with new ones.
 */
async function openWriter({ header }: Recording): Promise<PacketWriter> {
  const { adapter: name, layers } = checkSpec(header.adapter);
  const keyed = layers.findIndex((layer) => ['sign', 'encrypt'].includes(findStage(layer)));
  const spec = [name, ...(keyed < 0 ? layers : layers.slice(0, keyed))].join('+');
  const adapter = await loadAdapter(spec);
  const hasKeys = hasMemberKeys(await loadAdapter(name));
  const agents = header.agents.map(({ id }) => id);
  const codecs = openMembers(adapter, header.run_id, agents);
  return {
    spec,
    isExact: keyed < 0 && !hasKeys,
    caveat: describeCaveat(spec, layers.slice(keyed < 0 ? layers.length : keyed), hasKeys),
    write(packet) {
      const codec = codecs.get(packet.from);
      if (codec === undefined) throw new MeshError('packet', `${packet.from} is no agent of the run`);
      const blob = codec.encode(packet);
      return { blob, line: measureLine(codec, packet, blob.length, codec.layerBytes?.last) };
    },
  };
}

/** Returns true for an adapter whose members make keys: it offers something else every time. */
function hasMemberKeys(adapter: ProtocolAdapter): boolean {
  const offer = () => adapter.join?.({ runId: 'run', self: HUB_ID }).offer;
  return !isDeepStrictEqual(offer(), offer());
}

function describeCaveat(spec: string, left: readonly string[], hasKeys: boolean): string | null {
  const parts = [
    ...(left.length === 0
      ? []
      : [
          `The run also had ${left.join(' and ')} around these bytes, whose keys ended with it; shown is ${spec} below that.`,
        ]),
    ...(hasKeys
      ? [
          `The keys of ${spec} ended with the run: these bytes have new ones, so identities, signatures and ciphertext differ from the run's.`,
        ]
      : []),
  ];
  return parts.length === 0 ? null : parts.join(' ');
}
