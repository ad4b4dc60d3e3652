import * as z from 'zod';
import { MeshError, toErrorMessage } from '../contracts/errors.ts';
import { formatIssues, type Packet, parsePacket } from '../contracts/packet.ts';
import { ROUTINGS } from '../hub/routing.ts';
import { parseJsonLine } from '../system/json-line.ts';
import { checkJsonValues } from '../system/parse-json.ts';

/**
 * A recording: the packets of a run before encoding, the cause of each, and the time that the work for it
 * took. The hub makes it: it contains every relayed packet, whatever its sender and the sender's language,
 * joined with the work that agents report. The first JSON line describes the run; then each packet has one
 * line: first the documents that open tasks, then the rest in the order in which the hub received them.
 */
export const RECORDING_FILE = 'recording.jsonl';
const RECORDING_VERSION = 2;

const duration = z.number().nonnegative();

/**
 * Maximum values of a recording that is read, all lines together: its packets are in memory at once. A small
 * packet has some 40.
 */
const MAX_RECORDING_VALUES = 12_000_000;

/** Maximum kinds of traffic: more than a table can show. */
const MAX_PARTS = 32;

const partSchema = z.strictObject({
  name: z.string().min(1).max(64),
  about: z.string(),
  tasks: z.array(z.string()).min(1),
});

const headerSchema = z.strictObject({
  kind: z.literal('gaia-mesh-recording'),
  schema_version: z.literal(RECORDING_VERSION),
  run_id: z.string(),
  team: z.string(),
  /** Agent whose final answer ends a task; if it is null, a task ends when all its packets have come. */
  final: z.string().nullable(),
  routing: z.enum(ROUTINGS),
  adapter: z.string(),
  engine: z.string(),
  agents: z.array(z.strictObject({ id: z.string(), tool: z.string() })).min(1),
  /** Descriptions of relayed data that is missing here. */
  missing: z.array(z.string()).min(1).optional(),
  /** Descriptions of data that was not recorded but guessed. */
  guessed: z.array(z.string()).min(1).optional(),
  /** Groups of tasks of one kind, whose figures are shown separately. */
  parts: z.array(partSchema).min(1).max(MAX_PARTS).optional(),
});
type RecordingHeader = z.infer<typeof headerSchema>;

/**
 * The hub's observation of a packet, by its own clock in monotonic microseconds. A document arrives when its
 * broadcast begins.
 */
const relayedSchema = z.strictObject({
  /** Bytes of the whole frame. */
  bytes: z.int().nonnegative(),
  arrived_us: z.number(),
  forwarded_us: z.number(),
});

/** An agent's report on its work for a packet, in microseconds; received and sent are times of its own clock. */
const workSchema = z.strictObject({
  received_us: z.number(),
  sent_us: z.number(),
  decode_us: duration,
  engine_us: duration,
  encode_us: duration,
});

const entrySchema = z.strictObject({
  /** Id of the packet that this one answers; null for the document that opens a task. */
  cause: z.string().nullable(),
  /** Set if the hub inferred the cause, because the sender did not report it. */
  inferred: z.literal(true).optional(),
  /** Time in the sender's tool in microseconds, with that in its engine; null if the sender did not report it. */
  tool_us: duration.nullable(),
  /** Missing in recordings that no hub made. */
  relayed: relayedSchema.optional(),
  /** Missing if the sender did not report it. */
  work: workSchema.optional(),
  packet: z.unknown(),
});

/** A packet of a run without its payload. */
export interface PacketTrace extends Readonly<Omit<z.infer<typeof entrySchema>, 'packet'>> {
  readonly packet: Omit<Packet, 'payload'>;
}

export interface RecordedPacket extends PacketTrace {
  readonly packet: Packet;
}

export interface Recording {
  readonly header: Omit<RecordingHeader, 'kind' | 'schema_version'>;
  readonly packets: readonly RecordedPacket[];
}

/** Describes what a recording lacks: missing parts of the run, and facts that agents did not report. */
export function listCaveats({ header, packets }: Recording): string[] {
  const guessed = packets.filter(({ inferred }) => inferred === true);
  const begun = guessed.filter(({ cause }) => cause === null).length;
  const others = guessed.length - begun;
  const untimed = packets.filter(({ tool_us }) => tool_us === null).length;
  const ifAny = (count: number, caveat: string) => (count === 0 ? [] : [caveat]);
  return [
    ...(header.missing ?? []).map((what) => `Not in the recording: ${what}.`),
    ...(header.guessed ?? []).map((what) => `Guessed: ${what}.`),
    ...ifAny(
      begun,
      `Agents began ${begun} of its tasks by themselves: an empty document, which was never sent, opens each.`,
    ),
    ...ifAny(
      others,
      `The cause of ${others} of ${packets.length} packets is inferred: their agents do not report it.`,
    ),
    ...ifAny(
      untimed,
      `The tool time of ${untimed} of ${packets.length} packets is unknown: they are replayed without it.`,
    ),
  ];
}

/** Formats the recording as the lines of its file. */
export function formatRecording({ header, packets }: Recording): string[] {
  return [formatHeaderLine(header), ...packets.map(formatEntryLine)];
}

export function formatHeaderLine(header: Recording['header']): string {
  const first = { kind: 'gaia-mesh-recording', schema_version: RECORDING_VERSION, ...header };
  return `${JSON.stringify(first)}\n`;
}

export function formatEntryLine(entry: RecordedPacket): string {
  const { cause, inferred, tool_us, work, packet } = entry;
  const relayed = entry.relayed && {
    bytes: entry.relayed.bytes,
    arrived_us: Math.round(entry.relayed.arrived_us),
    forwarded_us: Math.round(entry.relayed.forwarded_us),
  };
  return `${JSON.stringify({ cause, inferred, tool_us, relayed, work, packet })}\n`;
}

/**
 * Parses a recording and checks that it can be replayed: every cause exists and precedes its effect, and
 * every packet's sender is an agent of the run.
 *
 * @throws MeshError `config` with the line number, and what is missing
 */
export function parseRecording(text: string, where: string): Recording {
  try {
    checkJsonValues(text, MAX_RECORDING_VALUES);
  } catch (error) {
    throw new MeshError('config', `${where}: ${toErrorMessage(error)}`, { cause: error });
  }
  const [first = '', ...rest] = text.split('\n').filter((line) => line !== '');
  const { kind: _kind, schema_version: _version, ...header } = parseHeader(first, where);
  const packets = rest.map((line, index) => parseEntry(line, `${where}:${index + 2}`));
  const all = new Set(packets.map(({ packet }) => packet.id));
  const seen = new Set<string>();
  const agents = new Set(['hub', ...header.agents.map((agent) => agent.id)]);
  packets.forEach(({ cause, packet }, index) => {
    const refused = (reason: string) =>
      new MeshError('config', `${where}:${index + 2}: packet ${packet.id} ${reason}`);
    if (cause === packet.id) throw refused('was caused by itself');
    if (cause !== null && !all.has(cause))
      throw refused(`was caused by ${cause}, which is missing; ${findNearestId(cause, all)}`);
    if (cause !== null && !seen.has(cause)) throw refused(`was caused by ${cause}, which comes after it`);
    if (!agents.has(packet.from)) throw refused(`is from ${packet.from}, which is no agent of the recording`);
    if (seen.has(packet.id)) throw refused('comes twice');
    seen.add(packet.id);
  });
  if (!packets.some(({ cause }) => cause === null))
    throw new MeshError('config', `${where}: it contains no document that opens a task`);
  checkParts(header, new Set(packets.map(({ packet }) => packet.task_id)), where);
  return { header, packets };
}

function parseHeader(line: string, where: string): RecordingHeader {
  const value = parseJsonLine(line, z.unknown(), `${where}:1`);
  const version = z.looseObject({ schema_version: z.number() }).safeParse(value);
  if (version.success && version.data.schema_version !== RECORDING_VERSION) {
    const came = version.data.schema_version;
    throw new MeshError(
      'config',
      `${where}: a recording of version ${came}; this program reads version ${RECORDING_VERSION}: ${
        came < RECORDING_VERSION ? 'make the run again' : 'it was made by a newer gaia-mesh'
      }`,
    );
  }
  const header = headerSchema.safeParse(value);
  if (!header.success)
    throw new MeshError('config', `${where}:1: not a recording: ${formatIssues(header.error)}`);
  return header.data;
}

function checkParts({ parts = [] }: Recording['header'], tasks: ReadonlySet<string>, where: string): void {
  const placed = new Map<string, string>();
  for (const { name, tasks: own } of parts) {
    for (const task of own) {
      const other = placed.get(task);
      const reason = tasks.has(task) ? other && `is of part ${other}, too` : 'is not in the recording';
      if (reason !== undefined)
        throw new MeshError('config', `${where}:1: task ${task} of part ${name} ${reason}`);
      placed.set(task, name);
    }
  }
}

function parseEntry(line: string, where: string): RecordedPacket {
  const { packet, ...entry } = parseJsonLine(line, entrySchema, where);
  try {
    return { ...entry, packet: parsePacket(packet) };
  } catch (error) {
    throw new MeshError('config', `${where}: ${toErrorMessage(error)}`, { cause: error });
  }
}

/** Names the id that is most like `wanted`: the one with the longest common prefix. */
function findNearestId(wanted: string, ids: ReadonlySet<string>): string {
  let best = '';
  let bestLength = -1;
  for (const id of ids) {
    let length = 0;
    while (length < id.length && id[length] === wanted[length]) length += 1;
    if (length > bestLength) [best, bestLength] = [id, length];
  }
  return `the nearest is ${best}`;
}
