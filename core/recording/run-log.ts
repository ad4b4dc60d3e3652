import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { systemCodeOf } from '../contracts/errors.ts';

import { DOC_INIT, HUB_ID, type JsonObject, type Packet, parsePacket } from '../contracts/packet.ts';
import type { RecordedPacket } from './recording.ts';

/** A packet that an agent sent, with what its log says of it. Times are microseconds; `…At` are of the monotonic clock. */
export interface SentPacket {
  readonly packet: Packet;
  readonly cause: string;
  readonly bytes: number;
  readonly receivedAt: number;
  readonly sentAt: number;
  readonly decodeUs: number;
  readonly toolUs: number;
  readonly engineUs: number;
  readonly encodeUs: number;
}

/** When the hub got and sent on a packet. */
interface Relay {
  readonly arrivedAt: number;
  readonly forwardedAt: number;
}

/** The document that opened a task. */
interface Opening {
  readonly packet: Omit<Packet, 'payload'>;
  readonly bytes: number;
  readonly beganAt: number;
  readonly encodeUs: number;
  readonly forwardedAt: number;
}

/** What the logs of a run tell: the record that everything else is derived from. */
export interface RunLog {
  /** By packet id, in the order in which they were sent. */
  readonly sent: ReadonlyMap<string, SentPacket>;
  readonly relays: ReadonlyMap<string, Relay>;
  readonly openings: ReadonlyMap<string, Opening>;
}

const us = z.number();
const sentSchema = z.looseObject({
  dir: z.literal('sent'),
  cause: z.string(),
  bytes: z.int(),
  received_us: us,
  sent_us: us,
  decode_us: us,
  tool_us: us,
  engine_us: us,
  encode_us: us,
});
const relaySchema = z.looseObject({
  event: z.literal('packet'),
  id: z.string(),
  arrived_us: us,
  forwarded_us: us,
});
const openingSchema = z.looseObject({
  event: z.literal('broadcast'),
  bytes: z.int(),
  began_us: us,
  encode_us: us,
  forwarded_us: us,
});

/** Logs of a run that are read back; a longer run has no recording and no split of its time, and memory stays bounded. */
export const MAX_READ_BYTES = 128 * 1024 * 1024;

/** Reads the logs of the hub and of the agents `ids` below `workspaces`; nothing where they are too long to be recorded. */
export function readRunLog(workspaces: string, ids: readonly string[]): RunLog {
  const hub = path.join(workspaces, 'hub.log');
  const agents = ids.map((id) => path.join(workspaces, id, 'agent.log'));
  const bytes = [hub, ...agents].reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  if (bytes > MAX_READ_BYTES) return { sent: new Map(), relays: new Map(), openings: new Map() };
  return runLogOf(textOf(hub), textsOf(agents));
}

/**
 * What the texts of the hub's log and of the agents' logs tell.
 *
 * @throws MeshError `packet` for a line that says it is a packet and is none
 */
export function runLogOf(hub: string, agents: Iterable<string>): RunLog {
  const relays = new Map<string, Relay>();
  const openings = new Map<string, Opening>();
  for (const line of linesOf(hub)) {
    const relay = relaySchema.safeParse(line);
    if (relay.success) {
      relays.set(relay.data.id, { arrivedAt: relay.data.arrived_us, forwardedAt: relay.data.forwarded_us });
      continue;
    }
    const opening = openingSchema.safeParse(line);
    if (!opening.success) continue;
    const { began_us, encode_us, forwarded_us, event, level, time, bytes, recipients, ...envelope } =
      opening.data;
    const { payload: _payload, ...packet } = parsePacket({ ...envelope, payload: {} });
    const times = { beganAt: began_us, encodeUs: encode_us, forwardedAt: forwarded_us };
    openings.set(packet.id, { packet, bytes, ...times });
  }
  const sent: SentPacket[] = [];
  for (const text of agents) for (const line of linesOf(text)) sent.push(...sentPacket(line));
  sent.sort((a, b) => a.sentAt - b.sentAt);
  return { sent: new Map(sent.map((entry) => [entry.packet.id, entry])), relays, openings };
}

function sentPacket(line: unknown): SentPacket[] {
  const parsed = sentSchema.safeParse(line);
  if (!parsed.success) return [];
  const {
    dir,
    level,
    time,
    cause,
    bytes,
    received_us,
    sent_us,
    decode_us,
    tool_us,
    engine_us,
    encode_us,
    ...packet
  } = parsed.data;
  return [
    {
      packet: parsePacket(packet),
      cause,
      bytes,
      receivedAt: received_us,
      sentAt: sent_us,
      decodeUs: decode_us,
      toolUs: tool_us,
      engineUs: engine_us,
      encodeUs: encode_us,
    },
  ];
}

/** The packets of a recording: the openings with their documents, and all that was sent because of them. */
export function recordedPackets(
  log: RunLog,
  payloadOf: (taskId: string) => JsonObject | undefined,
): RecordedPacket[] {
  const openings = [...log.openings.values()].flatMap(({ packet }): RecordedPacket[] => {
    const payload = payloadOf(packet.task_id);
    const isDocument = packet.type === DOC_INIT && packet.from === HUB_ID;
    return payload === undefined || !isDocument
      ? []
      : [{ cause: null, toolUs: 0, packet: { ...packet, payload } }];
  });
  return [
    ...openings,
    ...[...log.sent.values()].map(({ cause, toolUs, packet }) => ({ cause, toolUs, packet })),
  ];
}

/** One after the other: only one text is in memory at a time. */
function* textsOf(files: readonly string[]): Generator<string> {
  for (const file of files) yield textOf(file);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return ''; // It never came up.
    throw error;
  }
}

function linesOf(text: string): unknown[] {
  return text.split('\n').flatMap((line): unknown[] => {
    try {
      return [JSON.parse(line)];
    } catch {
      return []; // The last line of a process that was killed may be cut.
    }
  });
}
