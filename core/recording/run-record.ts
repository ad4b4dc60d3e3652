import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Codec } from '../contracts/adapter.ts';
import { MeshError, toErrorMessage } from '../contracts/errors.ts';
import { addLine, createLedgerLine, type LedgerLine, measureLine } from '../contracts/ledger.ts';
import { findOrAddEntry } from '../contracts/others.ts';
import { DOC_INIT, HUB_ID, type JsonObject, type Packet } from '../contracts/packet.ts';
import type { Link } from '../hub/link.ts';
import type { BroadcastTimes, RelayedBatch } from '../hub/mesh-observer.ts';
import { PREFIX_BYTES } from '../wire/frame.ts';
import type { ReportedWork } from './agent-work.ts';
import { FrameLog } from './frame-log.ts';
import {
  formatEntryLine,
  formatHeaderLine,
  type PacketTrace,
  type RecordedPacket,
  type Recording,
} from './recording.ts';

/** What a recording is made of beside what the hub has. */
interface RecordingSources {
  readonly header: (traces: readonly PacketTrace[]) => Recording['header'];
  /** The payload of the document that opened a task; nobody keeps it during the run. */
  readonly payloadOf: (taskId: string) => JsonObject | undefined;
  /** Agents begin tasks by themselves: a document of nothing opens each, which nobody sent, so that a replay has something to begin with. */
  readonly opensTasks?: boolean;
  /** What agents report of their work, by packet id. */
  readonly work: ReadonlyMap<string, ReportedWork>;
}

/** What a recording holds, but for the payloads, and what of the run it lacks, in words. */
interface WrittenRecording {
  readonly traces: readonly PacketTrace[];
  readonly missing: readonly string[];
}

/** The ledger lines of packets by type. */
export type LinesByType = ReadonlyMap<string, LedgerLine>;

type Caused = Pick<Packet, 'id' | 'type' | 'from' | 'to' | 'task_id' | 'reply_to'>;

/** What caused a packet, and whether that is an inference. */
interface Cause {
  readonly cause: string;
  readonly isCauseInferred?: true;
}

/**
 * What caused each packet of a run; packets are added in the order in which they came to the hub. A cause that an agent reports counts
 * if it came before. Where an agent reports none, it is the request that the packet answers, or else the last packet of its task that
 * its sender heard, of the types that it subscribes to if it said which.
 */
export class Causes {
  readonly #ids = new Set<string>();
  readonly #byTask = new Map<string, Pick<Caused, 'id' | 'type' | 'from' | 'to'>[]>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add({ id, type, from, to, task_id }: Caused): void {
    this.#ids.add(id);
    const earlier = this.#byTask.get(task_id) ?? [];
    earlier.push({ id, type, from, ...(to === undefined ? {} : { to }) });
    this.#byTask.set(task_id, earlier);
  }

  /** Undefined where nothing before it can have caused it. */
  of(packet: Caused, reported: string | undefined, subscribes: readonly string[]): Cause | undefined {
    if (reported !== undefined && this.#ids.has(reported)) return { cause: reported };
    const { reply_to: request } = packet;
    if (request !== undefined && this.#ids.has(request)) return { cause: request, isCauseInferred: true };
    const earlier = this.#byTask.get(packet.task_id) ?? [];
    const isHeard = ({ from, to }: Pick<Caused, 'from' | 'to'>) =>
      from !== packet.from && (to === undefined || to === packet.from);
    const last =
      earlier.findLast((other) => isHeard(other) && subscribes.includes(other.type)) ??
      earlier.findLast(isHeard);
    return last && { cause: last.id, isCauseInferred: true };
  }
}

/** The hub's record of a run: what it broadcast and relayed, as it came. */
export class RunRecord {
  readonly #file: string;
  readonly #frames: FrameLog;
  readonly #openings: PacketTrace[] = [];

  /** Frames wait in `file` until the recording is written. */
  constructor(file: string, maxBytes?: number) {
    this.#file = file;
    this.#frames = new FrameLog(file, maxBytes);
  }

  broadcast({ payload: _payload, ...packet }: Packet, times: BroadcastTimes, bytes: number): void {
    const { beganUs, encodeUs, forwardedUs } = times;
    this.#openings.push({
      cause: null,
      toolUs: 0,
      relayed: { bytes, arrivedUs: beganUs, forwardedUs },
      work: { receivedAt: beganUs, sentAt: forwardedUs, decodeUs: 0, engineUs: 0, encodeUs },
      packet,
    });
  }

  relayed(batch: RelayedBatch): void {
    this.#frames.add(batch);
  }

  /** Nothing is recorded any more. */
  async close(): Promise<void> {
    await this.#frames.close();
  }

  /** Lines of the ledger for what `senders` sent, who kept no ledger themselves: the hub decodes what it relayed. Close it first. */
  async linesOf(senders: ReadonlySet<Link>): Promise<ReadonlyMap<Link, LinesByType>> {
    const all = new Map<Link, Map<string, LedgerLine>>();
    if (senders.size === 0) return all;
    const readers = new Readers();
    for await (const { sender, blob } of this.#frames.frames()) {
      if (!senders.has(sender)) continue;
      const codec = readers.of(sender);
      const packet = decodePacket(codec, blob);
      // What cannot be read is on no line, and shown as such.
      if (typeof packet === 'string') continue;
      const lines = all.get(sender) ?? new Map<string, LedgerLine>();
      all.set(sender, lines);
      addLine(
        findOrAddEntry(lines, packet.type, createLedgerLine),
        measureReceivedLine(codec, packet, blob.length),
      );
    }
    return all;
  }

  /** Writes the recording, one packet after the other. Close it first. */
  async write(file: string, sources: RecordingSources): Promise<WrittenRecording> {
    const traces: PacketTrace[] = [];
    const missing: string[] = [];
    const body = `${file}.body`;
    const entries = this.#entries(sources, missing);
    await pipeline(
      async function* () {
        for await (const entry of entries) {
          const { payload: _payload, ...packet } = entry.packet;
          traces.push({ ...entry, packet });
          yield formatEntryLine(entry);
        }
      },
      createWriteStream(body, { mode: 0o600 }),
    );
    const first = formatHeaderLine({
      ...sources.header(traces),
      ...(missing.length === 0 ? {} : { missing }),
    });
    await pipeline(
      async function* () {
        yield first;
        yield* createReadStream(body);
      },
      createWriteStream(file, { mode: 0o600 }),
    );
    await rm(body);
    return { traces, missing };
  }

  /** Takes the frames away. */
  async remove(): Promise<void> {
    await rm(this.#file, { force: true });
  }

  /** `missing` gets what is left out, in words. */
  async *#entries(
    { payloadOf, work, opensTasks = false }: RecordingSources,
    missing: string[],
  ): AsyncGenerator<RecordedPacket> {
    const causes = new Causes();
    const opened = new Set<string>();
    for (const opening of this.#openings) {
      const { packet } = opening;
      const payload = payloadOf(packet.task_id);
      if (payload === undefined) {
        missing.push(`the document of task ${packet.task_id}`);
        continue;
      }
      causes.add(packet);
      yield { ...opening, packet: { ...packet, payload } };
    }
    const readers = new Readers();
    const left = new LeftOut();
    let recorded = 0;
    for await (const { sender, blob, arrivedUs, forwardedUs } of this.#frames.frames()) {
      recorded += 1;
      const packet = decodePacket(readers.of(sender), blob);
      if (typeof packet === 'string') {
        left.add(`cannot be decoded`, `agent ${sender.node.id}: ${packet}`);
        continue;
      }
      const { task_id: task } = packet;
      if (opensTasks && !opened.has(task)) {
        const opening = buildOpeningPacket(packet, opened.size + 1);
        opened.add(task);
        causes.add(opening);
        yield { cause: null, isCauseInferred: true, toolUs: 0, packet: opening };
      }
      const report = work.get(packet.id);
      const cause = causes.of(packet, report?.cause, sender.subscribes);
      if (causes.has(packet.id)) left.add('had the id of another', packet.id);
      else if (cause === undefined) left.add('were caused by nothing that is recorded', packet.id);
      else {
        causes.add(packet);
        const relayed = { bytes: PREFIX_BYTES + blob.length, arrivedUs, forwardedUs };
        yield { ...cause, ...toTraceReport(report), relayed, packet };
      }
    }
    const { packets, cut } = this.#frames;
    if (recorded < packets) missing.push(`${packets - recorded} of ${packets} packets: ${cut}`);
    missing.push(...left.sentences(packets));
  }
}

/** A codec for each sender, which has read nothing: the link's own has seen these frames, and refuses what comes twice. */
class Readers {
  readonly #codecs = new Map<Link, Codec>();

  of(sender: Link): Codec {
    let codec = this.#codecs.get(sender);
    if (codec === undefined) {
      codec = sender.openReader();
      this.#codecs.set(sender, codec);
    }
    return codec;
  }
}

/** A document that nobody sent. */
function buildOpeningPacket({ task_id, ts }: Packet, number: number): Packet {
  const payload = { question: '', chunks: [] };
  return { type: DOC_INIT, from: HUB_ID, id: `${HUB_ID}-${number}`, task_id, token_used: 0, ts, payload };
}

/** Packets that are left out, by reason. */
class LeftOut {
  readonly #reasons = new Map<string, { count: number; first: string }>();

  add(reason: string, which: string): void {
    const entry = this.#reasons.get(reason) ?? { count: 0, first: which };
    entry.count += 1;
    this.#reasons.set(reason, entry);
  }

  sentences(packets: number): string[] {
    return [...this.#reasons].map(
      ([reason, { count, first }]) => `${count} of ${packets} packets ${reason} (the first: ${first})`,
    );
  }
}

/**
 * The line of a packet that another wrote. A codec that would have to sign for its sender cannot say how long its envelope is: then it
 * is all that is no payload.
 */
function measureReceivedLine(codec: Codec, packet: Packet, blobBytes: number): LedgerLine {
  const { last = 0, overhead = 0 } = codec.layerBytes ?? {};
  try {
    return measureLine(codec, packet, blobBytes, last);
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const payload = Buffer.byteLength(JSON.stringify(packet.payload));
    const headerSize = () => PREFIX_BYTES + blobBytes - payload - last + overhead;
    return measureLine({ ...codec, headerSize }, packet, blobBytes, last);
  }
}

/** The packet, or why there is none. */
function decodePacket(codec: Codec, blob: Buffer): Packet | string {
  try {
    return codec.decode(blob);
  } catch (error) {
    return toErrorMessage(error);
  }
}

function toTraceReport(report: ReportedWork | undefined): Pick<PacketTrace, 'toolUs' | 'work'> {
  if (report === undefined) return { toolUs: null };
  const { cause: _cause, toolUs, ...work } = report;
  return { toolUs, work };
}
