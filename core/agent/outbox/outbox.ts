import * as z from 'zod';
import { MeshError, messageOf } from '../../contracts/errors.ts';
import {
  DELIVERY_WINDOW,
  MAX_DONE_IDS,
  MAX_OUTBOX_BYTES,
  MAX_OUTBOX_LINES,
  MAX_OUTBOX_PACKETS,
} from '../../contracts/limits.ts';
import { type Packet, parsePacket } from '../../contracts/packet.ts';
import { parseJsonText } from '../../system/parse-json.ts';
import { whenAborted } from '../../system/process/abort.ts';
import type { Journal } from './journal.ts';

/** The journal is written anew, without what the hub has taken over, when so much of it is of no more use. */
const MAX_DEAD_BYTES = 4 * 1024 * 1024;

/** A line of the journal: what was done, and the packets that came of it. */
const lineSchema = z.object({
  done: z.array(z.string()),
  sent: z.array(z.object({ cause: z.string(), packet: z.unknown() })),
  /** In a line that says all anew: how many processes had the journal before its writer. */
  restarts: z.int().nonnegative().exactOptional(),
});

/** A packet, and the id of the one that it came of. */
export interface Caused {
  readonly packet: Packet;
  readonly cause: string;
}

interface Kept extends Caused {
  readonly bytes: number;
}

/**
 * What an agent has sent in one run and the hub has not yet taken over, and which packets it is done with. A result is in the journal,
 * whole, before any of it is sent: an agent that is killed finds it again, so that no finished work is done twice and none is lost.
 */
export class Outbox {
  readonly runId: string;
  readonly #journal: Journal;
  #kept: Kept[] = [];
  readonly #done = new Set<string>();
  #restarts = 0;
  #keptBytes = 0;
  /** How many of what is kept, the last ones, are still being written. */
  #unwritten = 0;
  /** What was written since the journal was written anew. */
  #lines = 0;
  #bytes = 0;
  /** Packets of the present connection that the hub has taken over. */
  #taken = 0;
  #waiting: (() => void)[] = [];
  #written = Promise.resolve();
  #hasFailed = false;

  private constructor(runId: string, journal: Journal) {
    this.runId = runId;
    this.#journal = journal;
  }

  /** @throws MeshError `io` when the journal cannot be read; whatever is wrong with it, nothing of it may be sent */
  static async open(runId: string, journal: Journal): Promise<Outbox> {
    const outbox = new Outbox(runId, journal);
    try {
      const lines = await journal.read();
      for (const line of lines) outbox.#load(line);
      if (lines.length > 0) outbox.#restarts += 1;
    } catch (error) {
      throw new MeshError('io', `${journal.where} cannot be read: ${messageOf(error)}`, { cause: error });
    }
    return outbox;
  }

  /** How many processes have worked with this journal before. */
  get restarts(): number {
    return this.#restarts;
  }

  /** What was done last, as the hub is to know it: of what was under way nothing else may be missing. */
  get lastDone(): string[] {
    return [...this.#done].slice(-DELIVERY_WINDOW);
  }

  /** It could not be written: only the journal itself says what is in it. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** A connection begins; `have` is the last packet that the hub has. From now on the journal is this process's. */
  async begin(have: string | null): Promise<void> {
    const index = this.#kept.findIndex(({ packet }) => packet.id === have);
    this.#kept.splice(0, index + 1);
    this.#keptBytes = this.#kept.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#taken = 0;
    this.#wake();
    await this.#write(() => this.#rewrite());
  }

  /** Packets that are to be sent again, in order. */
  get kept(): readonly Caused[] {
    return [...this.#kept];
  }

  isDone(id: string): boolean {
    return this.#done.has(id);
  }

  /**
   * Keeps packets that are about to be sent: they may be, when this settles. With `done`, the work for that packet is finished with
   * them. Those who call one after the other are served in that order.
   *
   * @throws MeshError `io` when they could not be kept
   */
  async add(sent: readonly Caused[], done?: string): Promise<void> {
    for (const caused of sent) this.#keep(caused);
    this.#unwritten += sent.length;
    const line = JSON.stringify({ done: done === undefined ? [] : [done], sent });
    await this.#write(async () => {
      await this.#journal.append(line);
      this.#unwritten -= sent.length;
      if (done !== undefined) this.#remember(done);
      this.#lines += 1;
      this.#bytes += Buffer.byteLength(line);
      // The lines of what was taken over are still there.
      if (this.#lines > MAX_OUTBOX_LINES || this.#bytes > 2 * this.#keptBytes + MAX_DEAD_BYTES)
        await this.#rewrite();
    });
  }

  /** The hub has taken over so many packets of this connection, in the order in which they were sent. */
  taken(count: number): void {
    const more = Math.min(count - this.#taken, this.#kept.length);
    if (more <= 0) return;
    this.#taken += more;
    for (const { bytes } of this.#kept.splice(0, more)) this.#keptBytes -= bytes;
    if (!this.isFull) this.#wake();
  }

  get isFull(): boolean {
    return this.#kept.length >= MAX_OUTBOX_PACKETS || this.#keptBytes >= MAX_OUTBOX_BYTES;
  }

  /** Settles when something was acknowledged, or `signal` is aborted. Whether there is room then is to be asked again. */
  async change(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    this.#waiting.push(wake);
    const unwatch = whenAborted(signal, wake);
    await promise;
    unwatch();
  }

  /** Settles when what was added is written, or could not be. */
  async close(): Promise<void> {
    await this.#written.catch(() => undefined);
    this.#journal.close();
  }

  #keep({ packet, cause }: Caused): void {
    const bytes = Buffer.byteLength(JSON.stringify(packet));
    this.#kept.push({ packet, cause, bytes });
    this.#keptBytes += bytes;
  }

  #remember(id: string): void {
    this.#done.add(id);
    const [oldest] = this.#done;
    if (this.#done.size > MAX_DONE_IDS && oldest !== undefined) this.#done.delete(oldest);
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** One write after the other, and none after one that failed. */
  #write(work: () => Promise<void>): Promise<void> {
    this.#written = this.#written.then(work).catch((error: unknown) => {
      this.#hasFailed = true;
      throw error instanceof MeshError
        ? error
        : new MeshError('io', `${this.#journal.where}: ${messageOf(error)}`, { cause: error });
    });
    return this.#written;
  }

  /** Without packets whose own line is still to come: what they are the end of is not done before that. */
  async #rewrite(): Promise<void> {
    const sent = this.#kept
      .slice(0, this.#kept.length - this.#unwritten)
      .map(({ packet, cause }) => ({ cause, packet }));
    const line = JSON.stringify({ done: [...this.#done], sent, restarts: this.#restarts });
    await this.#journal.replace([line]);
    this.#lines = 0;
    this.#bytes = Buffer.byteLength(line);
  }

  #load(line: string): void {
    const { done, sent, restarts } = lineSchema.parse(parseJsonText(line));
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
