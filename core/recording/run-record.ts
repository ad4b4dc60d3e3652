import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Codec } from '../contracts/adapter.ts';
import { MeshError, toErrorMessage } from '../contracts/errors.ts';
import { addLine, createLedgerLine, type LedgerLine, measureLine } from '../contracts/ledger.ts';
import { MAX_RECORDING_BYTES } from '../contracts/limits.ts';
import { findOrAddEntry } from '../contracts/others.ts';
import { DOC_INIT, HUB_ID, type JsonObject, type Packet } from '../contracts/packet.ts';
import type { Batch } from '../hub/batch.ts';
import type { Link } from '../hub/link.ts';
import type { MeshObserver } from '../hub/mesh-observer.ts';
import { PREFIX_BYTES } from '../wire/frame.ts';
import type { readReportedWork } from './agent-work.ts';
import { FrameLog } from './frame-log.ts';
import {
  formatEntryLine,
  formatHeaderLine,
  type PacketTrace,
  type RecordedPacket,
  type Recording,
} from './recording.ts';

/**
 * Maximum types of an agent's subscription that are considered for a cause, so that the work for a packet is
 * bounded; a team has a few.
 */
const MAX_TYPES_OF_CAUSES = 64;

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
  readonly work: Awaited<ReturnType<typeof readReportedWork>>;
  /** Returns true when the time for the recording is up; the rest is then left out, and counted. */
  readonly isTimeUp?: (() => boolean) | undefined;
}

/** Contents of a recording without the payloads, and descriptions of what it lacks. */
interface WrittenRecording {
  readonly traces: readonly PacketTrace[];
  readonly missing: readonly string[];
}

/** Ledger lines of packets by type. */
export type LinesByType = ReadonlyMap<string, LedgerLine>;

type Caused = Pick<Packet, 'id' | 'type' | 'from' | 'to' | 'task_id' | 'reply_to'>;

interface EarlierPacket extends Pick<Packet, 'id' | 'from'> {
  /** Number of the packet in its run. */
  readonly order: number;
}

/** The last packet of a kind, and the last one before it from a different sender. */
interface LastPackets {
  last: EarlierPacket;
  other: EarlierPacket | undefined;
}

/** Cause of a packet; marked if it is an inference. */
interface Cause {
  readonly cause: string;
  readonly inferred?: true;
}

/**
 * Determines the cause of each packet of a run; packets are added in the order in which the hub received
 * them. A cause that an agent reports counts if that packet came before. Without a report, the cause is the
 * request that the packet answers, or else the last packet of its task that its sender received, preferably
 * of a type that it subscribes to.
 */
export class Causes {
  readonly #ids = new Set<string>();
  /** The last packets of each task, by recipient, and by recipient and type. */
  readonly #byTask = new Map<string, Map<string, LastPackets>>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add({ id, type, from, to, task_id }: Caused): void {
    this.#ids.add(id);
    const packet = { id, from, order: this.#ids.size };
    const ofTask = this.#byTask.get(task_id) ?? new Map<string, LastPackets>();
    this.#byTask.set(task_id, ofTask);
    for (const key of [toKindKey(to), toKindKey(to, type)]) {
      const kind = ofTask.get(key);
      if (kind === undefined) ofTask.set(key, { last: packet, other: undefined });
      else {
        if (kind.last.from !== from) kind.other = kind.last;
        kind.last = packet;
      }
    }
  }

  /** Returns the cause; undefined if no earlier packet can have caused it. */
  of(packet: Caused, reported: string | undefined, subscribes: readonly string[]): Cause | undefined {
    if (reported !== undefined && this.#ids.has(reported)) return { cause: reported };
    const { reply_to: request } = packet;
    if (request !== undefined && this.#ids.has(request)) return { cause: request, inferred: true };
    const last =
      this.#findLast(packet, subscribes.slice(0, MAX_TYPES_OF_CAUSES)) ?? this.#findLast(packet, [undefined]);
    return last && { cause: last.id, inferred: true };
  }

  /** Returns the last packet of one of the types that the sender of `packet` received; the type undefined stands for any. */
  #findLast({ task_id, from }: Caused, types: readonly (string | undefined)[]): EarlierPacket | undefined {
    const ofTask = this.#byTask.get(task_id);
    let found: EarlierPacket | undefined;
    for (const type of types) {
      for (const to of [undefined, from]) {
        const kind = ofTask?.get(toKindKey(to, type));
        const last = kind?.last.from === from ? kind.other : kind?.last;
        if (last !== undefined && last.order > (found?.order ?? 0)) found = last;
      }
    }
    return found;
  }
}

/** Returns the key of the packets to `to`, or to all agents, of one type or of any. */
function toKindKey(to: string | undefined, type?: string): string {
  return JSON.stringify([to ?? null, type ?? null]);
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

  readonly broadcast: MeshObserver['broadcast'] = ({ payload: _payload, ...packet }, times, bytes) => {
    const { beganUs, encodeUs, forwardedUs } = times;
    this.#openings.push({
      cause: null,
      tool_us: 0,
      relayed: { bytes, arrived_us: beganUs, forwarded_us: forwardedUs },
      work: { received_us: beganUs, sent_us: forwardedUs, decode_us: 0, engine_us: 0, encode_us: encodeUs },
      packet,
    });
  };

  relayed(batch: Batch): void {
    this.#frames.add(batch);
  }

  /** Stops recording. */
  async close(): Promise<void> {
    await this.#frames.close();
  }

  /**
   * Returns the ledger lines for packets of `senders` that kept no ledger themselves: the hub decodes the
   * frames it relayed, until the time is up. Close the record first.
   */
  async linesOf(
    senders: ReadonlySet<Link>,
    isTimeUp: () => boolean = () => false,
  ): Promise<ReadonlyMap<Link, LinesByType>> {
    const all = new Map<Link, Map<string, LedgerLine>>();
    if (senders.size === 0) return all;
    const readers = new Readers();
    for await (const { sender, blob } of this.#frames.frames()) {
      if (isTimeUp()) break;
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
        for await (const { line, ...entry } of entries) {
          traces.push(entry);
          yield line;
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

  /** Yields the recording's packets with their lines, and adds descriptions of missing ones to `missing`. */
  async *#entries(
    { payloadOf, work, opensTasks = false, isTimeUp = () => false }: RecordingSources,
    missing: string[],
  ): AsyncGenerator<PacketTrace & { readonly line: string }> {
    const causes = new Causes();
    const opened = new Set<string>();
    const toEntry = (entry: RecordedPacket) => {
      const { payload: _payload, ...packet } = entry.packet;
      return { ...entry, packet, line: formatEntryLine(entry) };
    };
    for (const opening of this.#openings) {
      const { packet } = opening;
      const payload = payloadOf(packet.task_id);
      if (payload === undefined) {
        missing.push(`the document of task ${packet.task_id}`);
        continue;
      }
      causes.add(packet);
      yield toEntry({ ...opening, packet: { ...packet, payload } });
    }
    const readers = new Readers();
    const left = new LeftOut();
    let recorded = 0;
    let bytes = 0;
    let { cut } = this.#frames;
    for await (const { sender, blob, arrivedUs, forwardedUs } of this.#frames.frames()) {
      if (isTimeUp()) {
        cut = 'the time to record them was up';
        break;
      }
      recorded += 1;
      const packet = decodePacket(readers.of(sender), blob);
      if (typeof packet === 'string') {
        left.add(
          `cannot be decoded`,
          `packet ${recorded} of agent ${sender.node.id} was not recorded: ${packet}`,
        );
        continue;
      }
      const { task_id: task } = packet;
      if (opensTasks && !opened.has(task)) {
        const opening = buildOpeningPacket(packet, opened.size + 1);
        opened.add(task);
        causes.add(opening);
        yield toEntry({ cause: null, inferred: true, tool_us: 0, packet: opening });
      }
      const report = work.get(packet.id);
      const cause = causes.of(packet, report?.cause, sender.subscribes);
      if (causes.has(packet.id)) left.add('had the id of another', packet.id);
      else if (cause === undefined) left.add('were caused by nothing that is recorded', packet.id);
      else {
        const relayed = {
          bytes: PREFIX_BYTES + blob.length,
          arrived_us: arrivedUs,
          forwarded_us: forwardedUs,
        };
        const entry = toEntry({
          ...cause,
          tool_us: report?.tool_us ?? null,
          relayed,
          work: report?.work,
          packet,
        });
        bytes += Buffer.byteLength(entry.line);
        if (bytes > MAX_RECORDING_BYTES) {
          recorded -= 1;
          cut = `the recording has room for ${MAX_RECORDING_BYTES} bytes`;
          break;
        }
        causes.add(packet);
        yield entry;
      }
    }
    const { packets } = this.#frames;
    if (recorded < packets)
      missing.push(
        `${packets - recorded} of ${packets} packets: ${cut ?? 'they are not in the log of frames'}`,
      );
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
