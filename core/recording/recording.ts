import * as z from 'zod';
import { MeshError, messageOf } from '../contracts/errors.ts';
import { issuesOf, type Packet, parsePacket } from '../contracts/packet.ts';
import { ROUTINGS } from '../hub/routing.ts';
import { parseJsonLine } from '../system/json-line.ts';

/**
 * A recording: the packets of a run as they were before encoding, what caused each, and how long the work for it took. One
 * JSON line for the run, then one a packet in the order in which they were sent.
 */
export const RECORDING_FILE = 'recording.jsonl';
const RECORDING_VERSION = 1;

const headerSchema = z.strictObject({
  kind: z.literal('gaia-mesh-recording'),
  schema_version: z.literal(RECORDING_VERSION),
  run_id: z.string(),
  team: z.string(),
  final: z.string(),
  routing: z.enum(ROUTINGS),
  adapter: z.string(),
  engine: z.string(),
  agents: z.array(z.strictObject({ id: z.string(), tool: z.string() })).min(1),
});
type RecordingHeader = z.infer<typeof headerSchema>;

const entrySchema = z.strictObject({
  /** Id of the packet that this one answers to; null for the document that opens a task. */
  cause: z.string().nullable(),
  /** Time in the sender's tool, microseconds. */
  tool_us: z.number().nonnegative(),
  packet: z.unknown(),
});

export interface RecordedPacket {
  readonly cause: string | null;
  readonly toolUs: number;
  readonly packet: Packet;
}

export interface Recording {
  readonly header: Omit<RecordingHeader, 'kind' | 'schema_version'>;
  readonly packets: readonly RecordedPacket[];
}

/** The recording as the lines of its file. */
export function recordingLines({ header, packets }: Recording): string[] {
  const first = { kind: 'gaia-mesh-recording', schema_version: RECORDING_VERSION, ...header };
  return [first, ...packets.map(({ cause, toolUs, packet }) => ({ cause, tool_us: toolUs, packet }))].map(
    (line) => `${JSON.stringify(line)}\n`,
  );
}

/**
 * Reads a recording back, and checks that it can be replayed: every cause is there, every packet's sender is an agent of the run.
 *
 * @throws MeshError `config` with the line number, and what is missing
 */
export function parseRecording(text: string, where: string): Recording {
  const [first = '', ...rest] = text.split('\n').filter((line) => line !== '');
  const { kind: _kind, schema_version: _version, ...header } = parseHeader(first, where);
  const packets = rest.map((line, index) => parseEntry(line, `${where}:${index + 2}`));
  const ids = new Set(packets.map(({ packet }) => packet.id));
  const agents = new Set(['hub', ...header.agents.map((agent) => agent.id)]);
  packets.forEach(({ cause, packet }, index) => {
    const line = `${where}:${index + 2}`;
    if (cause !== null && !ids.has(cause)) {
      throw new MeshError(
        'config',
        `${line}: packet ${packet.id} was caused by ${cause}, which is missing; ${nearest(cause, ids)}`,
      );
    }
    if (!agents.has(packet.from)) {
      throw new MeshError(
        'config',
        `${line}: packet ${packet.id} is from ${packet.from}, which is no agent of the recording`,
      );
    }
  });
  if (!packets.some(({ cause }) => cause === null))
    throw new MeshError('config', `${where}: no document opens a task in it`);
  return { header, packets };
}

function parseHeader(line: string, where: string): RecordingHeader {
  const value = parseJsonLine(line, z.unknown(), `${where}:1`);
  const version = z.looseObject({ schema_version: z.number() }).safeParse(value);
  if (version.success && version.data.schema_version !== RECORDING_VERSION) {
    const came = version.data.schema_version;
    throw new MeshError(
      'config',
      `${where}: a recording of version ${came}; this program reads version ${RECORDING_VERSION}`,
    );
  }
  const header = headerSchema.safeParse(value);
  if (!header.success)
    throw new MeshError('config', `${where}:1: not a recording: ${issuesOf(header.error)}`);
  return header.data;
}

function parseEntry(line: string, where: string): RecordedPacket {
  const { cause, tool_us, packet } = parseJsonLine(line, entrySchema, where);
  try {
    return { cause, toolUs: tool_us, packet: parsePacket(packet) };
  } catch (error) {
    throw new MeshError('config', `${where}: ${messageOf(error)}`, { cause: error });
  }
}

/** The id that looks most like `wanted`: the longest common beginning. */
function nearest(wanted: string, ids: ReadonlySet<string>): string {
  let best = '';
  let bestLength = -1;
  for (const id of ids) {
    let length = 0;
    while (length < id.length && id[length] === wanted[length]) length += 1;
    if (length > bestLength) [best, bestLength] = [id, length];
  }
  return `the nearest is ${best}`;
}
