import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import {
  DOC_INIT,
  HEAD_LENGTHS,
  HUB_ID,
  MESH_TYPE_PREFIX,
  type Packet,
} from '@gaia-mesh/core/contracts/packet.ts';
import { recogniseOurJson } from '@gaia-mesh/core/recording/read-archive.ts';
import type { RecordedPacket, Recording } from '@gaia-mesh/core/recording/recording.ts';
import { keepPayload } from '@gaia-mesh/core/system/parse-json.ts';
import { chatFormats } from './import/chat-log.ts';
import { jsonRpcFormats } from './import/json-rpc.ts';
import { otlp } from './import/otlp.ts';
import { whoAndWhen } from './import/who-and-when.ts';
import { toObject } from './loose-values.ts';
import { type ImportedMessage, ImportNotes, type SourceValue, type TrafficFormat } from './message.ts';
import { readSource } from './read-source.ts';

/** Summary of an import. */
interface ImportReport {
  readonly format: string;
  /** The sign by which the format was recognized; null if the user named the format. */
  readonly detected_by: string | null;
  readonly packets: number;
  readonly tasks: number;
  readonly agents: readonly string[];
  readonly payload_bytes: number;
  /** Facts that the file lacks and the import guessed, in words, with counts. */
  readonly guessed: readonly string[];
  /** Parts of the file that are not in the recording, in words, with counts. */
  readonly dropped: readonly string[];
}

interface Imported {
  readonly recording: Recording;
  readonly report: ImportReport;
}

/**
 * Imports a file of another tool as a recording.
 *
 * @param name name of the format; null to detect it
 * @throws MeshError `config` for a file that cannot be read, is of no known kind or contains no message
 */
export function importTraffic(file: string, name: string | null): Imported {
  const notes = new ImportNotes();
  const values = readSource(file, notes);
  if (name === null && values.some(isAgentSession))
    throw new MeshError('config', `${file}: a session of a coding agent is not imported`);
  const detected = name === null ? detectFormat(values) : undefined;
  const format = detected?.format ?? trafficFormats.find((known) => known.name === name);
  if (format === undefined) {
    const own = recogniseOurJson(JSON.stringify(values[0]?.value ?? null));
    const looks = own === undefined ? '' : ` (it looks like ${own}, which is no traffic)`;
    const known = trafficFormats.map((each) => `${each.name}: ${each.about}`).join('; ');
    throw new MeshError(
      'config',
      `${file}: its format was not recognized${looks}; name it with import --as (${known})`,
    );
  }
  const { header, packets } = buildImported(file, format, values, notes);
  const { guessed, dropped } = notes.said();
  return {
    recording: {
      header: {
        ...header,
        missing: addNotes(header.missing, dropped),
        guessed: addNotes(header.guessed, guessed),
      },
      packets,
    },
    report: {
      format: format.name,
      detected_by: detected === undefined ? null : `${detected.sign} in ${detected.where}`,
      packets: packets.length,
      tasks: packets.filter(({ cause }) => cause === null).length,
      agents: header.agents.map(({ id }) => id),
      payload_bytes: packets.reduce(
        (sum, { packet }) => sum + Buffer.byteLength(JSON.stringify(packet.payload)),
        0,
      ),
      guessed,
      dropped,
    },
  };
}

/** Returns true for a line of a session that Claude Code or Codex keeps. */
function isAgentSession({ value }: SourceValue): boolean {
  const { sessionId, message, type, payload } = toObject(value) ?? {};
  const isCodex = type === 'session_meta' || type === 'response_item';
  return isCodex
    ? toObject(payload) !== undefined
    : typeof sessionId === 'string' && toObject(message) !== undefined;
}

function addNotes(before: readonly string[] = [], more: readonly string[]): string[] | undefined {
  return before.length + more.length === 0 ? undefined : [...before, ...more];
}

function buildImported(
  file: string,
  { name, about, read }: TrafficFormat,
  values: readonly SourceValue[],
  notes: ImportNotes,
): Recording {
  const messages = read(values, notes);
  if (messages.length === 0) {
    const { dropped } = notes.said();
    const why = dropped.length === 0 ? '' : `; not imported: ${dropped.join('; ')}`;
    throw new MeshError('config', `${file}: no message of ${about} is in it${why}`);
  }
  return buildRecording(messages, { runId: path.basename(file).slice(0, 200), format: name }, notes);
}

/** Maximum messages of a recording; a replay holds them all in memory, in each of its processes. */
const MAX_MESSAGES = 100_000;
/** Maximum senders and recipients, the same as the agents of a team. */
const MAX_NODES = 1000;
const US_PER_MS = 1000;

/** The facts about a recorded message that later ones need. */
interface Placed {
  readonly id: string;
  readonly to: string;
  readonly atUs: number | undefined;
}

/**
 * Builds a recording from messages. Each message goes to one recipient (routing `direct`). Its cause is the request that it
 * answers, or else the last message that its sender received in the same task, or else the empty document that opens the task. No
 * packet ends a task.
 */
function buildRecording(
  messages: readonly ImportedMessage[],
  { runId, format }: { readonly runId: string; readonly format: string },
  notes: ImportNotes,
): Recording {
  const names = new NodeNames(notes);
  const packets: RecordedPacket[] = [];
  const placed = new Map<ImportedMessage, Placed>();
  const opened = new Map<string, Placed>();
  const heard = new Map<string, Placed>();
  const counts = new Map<string, number>();
  const nextId = (from: string) => {
    const number = (counts.get(from) ?? 0) + 1;
    counts.set(from, number);
    return `${from}-${number}`;
  };
  for (const message of sortMessages(messages, notes)) {
    const isNew = [message.from, message.to].filter((name) => !names.has(name)).length;
    if (placed.size >= MAX_MESSAGES || names.ids.length + isNew > MAX_NODES) {
      notes.drop(`messages beyond ${MAX_MESSAGES} messages or ${MAX_NODES} senders and recipients`);
      continue;
    }
    const from = names.idOf(message.from);
    const to = names.idOf(message.to === message.from ? `${message.to}:self` : message.to);
    const task = toTaskId(message.task, notes);
    const ts = Math.max(0, Math.round((message.atUs ?? 0) / US_PER_MS));
    if (!opened.has(task)) {
      const id = nextId(HUB_ID);
      opened.set(task, { id, to: '', atUs: undefined });
      const head = { type: DOC_INIT, from: HUB_ID, id, task_id: task, token_used: 0, ts };
      packets.push({ cause: null, inferred: true, tool_us: 0, packet: { ...head, payload: {} } });
    }
    const answered = message.answers === undefined ? undefined : placed.get(message.answers);
    // A request to another recipient cannot be the cause, whatever the log says.
    const request = answered?.to === from ? answered : undefined;
    const cause = request ?? heard.get(`${from} ${task}`) ?? opened.get(task);
    if (cause === undefined) throw new Error('the task was opened above');
    if (request === undefined) {
      notes.guess('causes of messages, taken as what their senders had heard last');
    }
    const own: Placed = { id: nextId(from), to, atUs: message.atUs };
    placed.set(message, own);
    heard.set(`${to} ${task}`, own);
    const packet: Packet = {
      type: toPacketType(message.type, notes),
      from,
      to,
      id: own.id,
      ...(request === undefined ? {} : { reply_to: request.id }),
      task_id: task,
      token_used: toTokenCount(message.tokens),
      ts,
      payload: keepPayload(message.payload, (path, why) => notes.drop(`values (${why})`, path.join('.'))),
    };
    packets.push({
      cause: cause.id,
      inferred: request === undefined ? true : undefined,
      tool_us: computeToolUs(cause, own, notes),
      packet,
    });
  }
  return {
    header: {
      run_id: runId,
      team: 'imported',
      final: null,
      routing: 'direct',
      adapter: format,
      engine: 'unknown',
      agents: names.ids.map((id) => ({ id, tool: 'imported' })),
    },
    packets,
  };
}

/** Sorts messages by time, if all of them have one. A reply never comes before the message it answers. */
function sortMessages(messages: readonly ImportedMessage[], notes: ImportNotes): readonly ImportedMessage[] {
  const untimed = messages.filter(({ atUs }) => atUs === undefined).length;
  if (untimed > 0) {
    notes.guess('messages without a time, so all stand in the order of the file', undefined, untimed);
    return messages;
  }
  const timeOf = ({ atUs = 0, answers }: ImportedMessage) => Math.max(atUs, answers?.atUs ?? 0);
  return messages.toSorted((a, b) => timeOf(a) - timeOf(b));
}

/** Computes the time between the cause and the message: the sender's own work, and the transport of both messages. */
function computeToolUs(cause: Placed, own: Placed, notes: ImportNotes): number | null {
  if (cause.atUs === undefined || own.atUs === undefined) return null;
  notes.guess('times of work before messages, taken as all since their causes, with the network');
  return Math.max(0, own.atUs - cause.atUs);
}

function toPacketType(type: string, notes: ImportNotes): string {
  const isOurs = type === DOC_INIT || type.startsWith(MESH_TYPE_PREFIX);
  const named = isOurs ? `imported.${type}` : type;
  const short = named.slice(0, HEAD_LENGTHS.type).toWellFormed() || 'message';
  if (short !== type) notes.guess('types that no packet may have, changed', type);
  return short;
}

function toTaskId(task: string, notes: ImportNotes): string {
  const short = task.slice(-HEAD_LENGTHS.task_id).toWellFormed() || 'task';
  if (short !== task) notes.guess('names of tasks that are too long, cut', short);
  return short;
}

function toTokenCount(tokens: number | undefined): number {
  return tokens !== undefined && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : 0;
}

/** Maximum characters of a name, which leaves room for a number after it. */
const MAX_NAME_LENGTH = 200;

/** Assigns valid agent ids to the senders and recipients of a log. Different names never share an id. */
class NodeNames {
  readonly #ids = new Map<string, string>();
  readonly #taken = new Set<string>([HUB_ID]);
  readonly #notes: ImportNotes;

  constructor(notes: ImportNotes) {
    this.#notes = notes;
  }

  get ids(): string[] {
    return [...this.#ids.values()];
  }

  has(name: string): boolean {
    return this.#ids.has(name);
  }

  idOf(name: string): string {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const plain = name
      .replaceAll(/[^A-Za-z0-9_.:/#?=&%@+-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, MAX_NAME_LENGTH);
    const base = plain === '' ? 'node' : plain;
    let id = base;
    for (let number = 2; this.#taken.has(id); number++) id = `${base}-${number}`;
    if (id !== name) this.#notes.guess('names that no agent may have, changed', `${name} → ${id}`);
    this.#taken.add(id);
    this.#ids.set(name, id);
    return id;
  }
}

/** Formats in the order in which they are tried: those that can contain another come first. */
export const trafficFormats: readonly TrafficFormat[] = [otlp, ...jsonRpcFormats, whoAndWhen, ...chatFormats];

/** Maximum values that are examined; the first ones of a log may be about something else. */
const PROBED_VALUES = 50;

/** Detects the format of a file, and returns the sign and where it was found; undefined if none is recognized. */
function detectFormat(
  values: readonly SourceValue[],
): { format: TrafficFormat; sign: string; where: string } | undefined {
  for (const format of trafficFormats) {
    for (const { value, where } of values.slice(0, PROBED_VALUES)) {
      const sign = format.findSign(value);
      if (sign !== undefined) return { format, sign, where };
    }
  }
  return undefined;
}
