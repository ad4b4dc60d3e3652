import { existsSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { MeshError } from '../contracts/errors.ts';
import { DELIVERY_LIMITS } from '../contracts/limits.ts';
import { type Packet, parsePacket } from '../contracts/packet.ts';
import { AppendLog, RecordReader } from '../system/append-log.ts';
import { onAbort } from '../system/process/abort.ts';

/** Obsolete bytes in the file above which it is rewritten without the packets that the hub has taken over. */
const MAX_DEAD_BYTES = 4 * 1024 * 1024;

/** A line of the file: packets that were finished, and the packets that resulted from them. */
const lineSchema = z.object({
  done: z.array(z.string()),
  sent: z.array(z.object({ cause: z.string(), packet: z.unknown() })),
  /**
   * Number of processes that had the outbox before its writer; only in a line that rewrites the whole state.
   */
  restarts: z.int().nonnegative().exactOptional(),
});
type Line = z.infer<typeof lineSchema>;
const headSchema = z.object({ run: z.string() });
type Head = z.infer<typeof headSchema>;

const OUTBOX = { what: 'outbox', schema: lineSchema, head: headSchema };

/** A packet, and the id of the packet that caused it. */
interface Caused {
  readonly packet: Packet;
  readonly cause: string;
}

interface Kept extends Caused {
  readonly bytes: number;
}

const OUTBOX_FILE = 'outbox.jsonl';

/**
 * Packets that an agent has sent in one run and the hub has not yet taken over, and the ids of the packets it
 * has finished, in a file in its workspace whose first line names the run. A whole result is written there
 * before any of it is sent: an agent that is killed finds it again, so no finished work is done twice and
 * none is lost. The operating system holds what was written, which outlives the process; a power failure may
 * lose it.
 */
export class Outbox {
  readonly runId: string;
  readonly #file: string;
  #log: AppendLog<Line, Head> | undefined;
  #kept: Kept[] = [];
  readonly #done = new Set<string>();
  #restarts = 0;
  #keptBytes = 0;
  /** Lines and bytes written since the file was last rewritten. */
  #lines = 0;
  #bytes = 0;
  /** Number of packets of the present connection that the hub has taken over. */
  #taken = 0;
  #waiting: (() => void)[] = [];
  #hasFailed = false;

  /** @throws MeshError `store` when the file is damaged: it is then not used at all */
  constructor(workspace: string, runId: string) {
    this.runId = runId;
    this.#file = path.join(workspace, OUTBOX_FILE);
    if (existsSync(this.#file)) this.#read();
  }

  /** Number of earlier processes that have worked with this outbox. */
  get restarts(): number {
    return this.#restarts;
  }

  /** The ids of the packets finished last, for the hub: no other packet under way can be finished. */
  get lastDone(): string[] {
    return [...this.#done].slice(-DELIVERY_LIMITS.window);
  }

  /** After a failed write only the file itself knows its content. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /**
   * Begins a connection; `have` is the id of the last packet that the hub has. From now on this process owns
   * the file.
   *
   * @throws MeshError `io` when the file cannot be written
   */
  begin(have: string | null): void {
    const index = this.#kept.findIndex(({ packet }) => packet.id === have);
    this.#kept.splice(0, index + 1);
    this.#keptBytes = this.#kept.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#taken = 0;
    this.#wake();
    this.#write(() => this.#rewrite());
  }

  /** Packets to send again, in order. */
  get kept(): readonly Caused[] {
    return [...this.#kept];
  }

  isDone(id: string): boolean {
    return this.#done.has(id);
  }

  /**
   * Keeps packets that are about to be sent; `done` is the id of the packet whose work they finish.
   *
   * @throws MeshError `io` when they could not be kept
   */
  add(sent: readonly Caused[], done?: string): void {
    this.#write(() => this.#append({ done: done === undefined ? [] : [done], sent: [...sent] }));
    for (const caused of sent) this.#keep(caused);
    if (done !== undefined) this.#remember(done);
    // The file still has the lines of packets that the hub has taken over.
    if (this.#lines > DELIVERY_LIMITS.outboxLines || this.#bytes > 2 * this.#keptBytes + MAX_DEAD_BYTES)
      this.#write(() => this.#rewrite());
  }

  /**
   * Removes the first `count` packets of this connection, which the hub has taken over in the order of
   * sending.
   */
  taken(count: number): void {
    const more = Math.min(count - this.#taken, this.#kept.length);
    if (more <= 0) return;
    this.#taken += more;
    for (const { bytes } of this.#kept.splice(0, more)) this.#keptBytes -= bytes;
    if (!this.isFull) this.#wake();
  }

  get isFull(): boolean {
    return (
      this.#kept.length >= DELIVERY_LIMITS.outboxPackets || this.#keptBytes >= DELIVERY_LIMITS.outboxBytes
    );
  }

  /**
   * Waits until the hub has acknowledged packets or `signal` is aborted. The caller checks again for room.
   */
  async change(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    this.#waiting.push(wake);
    const unwatch = onAbort(signal, wake);
    await promise;
    unwatch();
  }

  close(): void {
    this.#log?.close();
    this.#log = undefined;
  }

  #keep({ packet, cause }: Caused): void {
    const bytes = Buffer.byteLength(JSON.stringify(packet));
    this.#kept.push({ packet, cause, bytes });
    this.#keptBytes += bytes;
  }

  #remember(id: string): void {
    this.#done.add(id);
    const [oldest] = this.#done;
    if (this.#done.size > DELIVERY_LIMITS.doneIds && oldest !== undefined) this.#done.delete(oldest);
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Performs a write; after a failed one it refuses all others. */
  #write(work: () => void): void {
    if (this.#hasFailed) throw new MeshError('io', `${this.#file}: an earlier write to it failed`);
    try {
      work();
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
  }

  #append(line: Line): void {
    if (this.#log === undefined) throw new MeshError('io', `${this.#file}: the outbox is closed`);
    this.#bytes += this.#log.append(line).bytes;
    this.#lines += 1;
  }

  /** Rewrites the file: a reader sees the old one or the new one, never half of it. */
  #rewrite(): void {
    this.close();
    const sent = this.#kept.map(({ packet, cause }) => ({ cause, packet }));
    const line: Line = { done: [...this.#done], sent, restarts: this.#restarts };
    this.#log = AppendLog.create(this.#file, OUTBOX, [{ run: this.runId }, line]);
    this.#lines = 0;
    this.#bytes = this.#keptBytes;
  }

  /** Reads the lines of this run; of an unfinished last one nothing was sent. */
  #read(): void {
    const lines: Line[] = [];
    const reader = RecordReader.open(this.#file, OUTBOX, ({ value }) => lines.push(value));
    reader.close();
    if (reader.head?.run !== this.runId) return;
    for (const line of lines) this.#load(line);
    if (lines.length > 0) this.#restarts += 1;
  }

  #load({ done, sent, restarts }: Line): void {
    if (restarts !== undefined) {
      this.#restarts = restarts;
      this.#done.clear();
      this.#kept = [];
      this.#keptBytes = 0;
    }
    for (const id of done) this.#remember(id);
    for (const { cause, packet } of sent) this.#keep({ cause, packet: parsePacket(packet) });
  }
}
