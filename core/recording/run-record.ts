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

/** Data for a recording that the hub does not have. */
interface RecordingSources {
  readonly header: (traces: readonly PacketTrace[]) => Recording['header'];
  /** Returns the payload of the document that opened a task; it is not kept during the run. */
  readonly payloadOf: (taskId: string) => JsonObject | undefined;
  /**
   * True if agents begin tasks by themselves: an empty document, which was never sent, then opens each task,
   * so that a replay has something to begin with.
   */
  readonly opensTasks?: boolean;
  /** Work that agents report, by packet id. */
  readonly work: ReadonlyMap<string, ReportedWork>;
}

/** Contents of a recording without the payloads, and descriptions of what it lacks. */
interface WrittenRecording {
  readonly traces: readonly PacketTrace[];
  readonly missing: readonly string[];
}

/** Ledger lines of packets by type. */
export type LinesByType = ReadonlyMap<string, LedgerLine>;

type Caused = Pick<Packet, 'id' | 'type' | 'from' | 'to' | 'task_id' | 'reply_to'>;

interface EarlierPacket extends Pick<Packet, 'id' | 'type' | 'from'> {
  readonly to: string | undefined;
}

/** Cause of a packet; marked if it is an inference. */
interface Cause {
  readonly cause: string;
  readonly isCauseInferred?: true;
}

/**
 * Determines the cause of each packet of a run; packets are added in the order in which the hub received
 * them. A cause that an agent reports counts if that packet came before. Without a report, the cause is the
 * request that the packet answers, or else the last packet of its task that its sender received, preferably
 * of a type that it subscribes to.
 */
export class Causes {
  readonly #ids = new Set<string>();
  readonly #byTask = new Map<string, EarlierPacket[]>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add({ id, type, from, to, task_id }: Caused): void {
    this.#ids.add(id);
    const earlier = this.#byTask.get(task_id) ?? [];
    earlier.push({ id, type, from, to });
    this.#byTask.set(task_id, earlier);
  }

  /** Returns the cause; undefined if no earlier packet can have caused it. */
  of(packet: Caused, reported: string | undefined, subscribes: readonly string[]): Cause | undefined {
    if (reported !== undefined && this.#ids.has(reported)) return { cause: reported };
    const { reply_to: request } = packet;
    if (request !== undefined && this.#ids.has(request)) return { cause: request, isCauseInferred: true };
    const earlier = this.#byTask.get(packet.task_id) ?? [];
    const isHeard = ({ from, to }: EarlierPacket) =>
      from !== packet.from && (to === undefined || to === packet.from);
    const last =
      earlier.findLast((other) => isHeard(other) && subscribes.includes(other.type)) ??
      earlier.findLast(isHeard);
    return last && { cause: last.id, isCauseInferred: true };
  }
}

/** The hub's record of a run: the packets that it broadcast and relayed, unchanged. */
export class RunRecord {
  readonly #file: string;
  readonly #frames: FrameLog;
  readonly #openings: PacketTrace[] = [];

  /** `file` keeps the frames until the recording is written. */
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

  /** Stops recording. */
  async close(): Promise<void> {
    await this.#frames.close();
  }

  /**
   * Returns the ledger lines for packets of `senders` that kept no ledger themselves: the hub decodes the
   * frames it relayed. Close the record first.
   */
  async linesOf(senders: ReadonlySet<Link>): Promise<ReadonlyMap<Link, LinesByType>> {
    const all = new Map<Link, Map<string, LedgerLine>>();
    if (senders.size === 0) return all;
    const readers = new Readers();
    for await (const { sender, blob } of this.#frames.frames()) {
      if (!senders.has(sender)) continue;
      const codec = readers.of(sender);
      const packet = decodePacket(codec, blob);
      // Unreadable packets are on no line, and are reported as such.
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

  /** Writes the recording, packet by packet. Close the record first. */
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
      missing: missing.length === 0 ? undefined : missing,
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

  /** Deletes the frames. */
  async remove(): Promise<void> {
    await rm(this.#file, { force: true });
  }

  /** Yields the recording's packets, and adds descriptions of missing ones to `missing`. */
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

/** Fresh codecs by sender: a link's own codec has already seen these frames and refuses repetitions. */
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

/** Builds a document that was never sent. */
function buildOpeningPacket({ task_id, ts }: Packet, number: number): Packet {
  const payload = { question: '', chunks: [] };
  return { type: DOC_INIT, from: HUB_ID, id: `${HUB_ID}-${number}`, task_id, token_used: 0, ts, payload };
}

/** Omitted packets by reason. */
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
 * Returns the ledger line of a packet that another agent wrote. A codec that would have to sign for the
 * sender cannot measure the envelope: then everything but the payload counts as envelope.
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

/** Returns the packet, or the reason why it cannot be decoded. */
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
