import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { MeshError, toErrorMessage } from '../contracts/errors.ts';
import {
  DELIVERY_WINDOW,
  MAX_DONE_IDS,
  MAX_OUTBOX_BYTES,
  MAX_OUTBOX_LINES,
  MAX_OUTBOX_PACKETS,
} from '../contracts/limits.ts';
import { type Packet, parsePacket } from '../contracts/packet.ts';
import { parseJsonText } from '../system/parse-json.ts';
import { onAbort } from '../system/process/abort.ts';

/** The file is written anew, without what the hub has taken over, when so much of it is of no more use. */
const MAX_DEAD_BYTES = 4 * 1024 * 1024;

/** A line of the file: what was done, and the packets that came of it. */
const lineSchema = z.object({
  done: z.array(z.string()),
  sent: z.array(z.object({ cause: z.string(), packet: z.unknown() })),
  /** In a line that says all anew: how many processes had the outbox before its writer. */
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

const OUTBOX_FILE = 'outbox.jsonl';

/**
 * What an agent has sent in one run and the hub has not yet taken over, and which packets it is done with, in a file in its workspace
 * whose first line names the run. A result is written there, whole, before any of it is sent: an agent that is killed finds it again, so
 * that no finished work is done twice and none is lost. The system has what was written and outlives the process; a machine that loses
 * its power may lose it.
 */
export class Outbox {
  readonly runId: string;
  readonly #file: string;
  readonly #head: string;
  #descriptor: number | undefined;
  #kept: Kept[] = [];
  readonly #done = new Set<string>();
  #restarts = 0;
  #keptBytes = 0;
  /** Lines and bytes that were written since the file was written anew. */
  #lines = 0;
  #bytes = 0;
  /** Packets of the present connection that the hub has taken over. */
  #taken = 0;
  #waiting: (() => void)[] = [];
  #hasFailed = false;

  /** @throws MeshError `io` when the file cannot be read; whatever is wrong with it, nothing of it may be sent */
  constructor(workspace: string, runId: string) {
    this.runId = runId;
    this.#file = path.join(workspace, OUTBOX_FILE);
    this.#head = JSON.stringify({ run: runId });
    try {
      const lines = this.#read();
      for (const line of lines) this.#load(line);
      if (lines.length > 0) this.#restarts += 1;
    } catch (error) {
      throw new MeshError('io', `${this.#file} cannot be read: ${toErrorMessage(error)}`, { cause: error });
    }
  }

  /** The number of processes that have worked with this outbox before. */
  get restarts(): number {
    return this.#restarts;
  }

  /** The packets that were done last, for the hub: of those under way nothing else may be missing. */
  get lastDone(): string[] {
    return [...this.#done].slice(-DELIVERY_WINDOW);
  }

  /** After a failed write only the file itself says what is in it. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /**
   * Begins a connection; `have` is the last packet that the hub has. From now on the file is this process's.
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

  /** Packets that are to be sent again, in order. */
  get kept(): readonly Caused[] {
    return [...this.#kept];
  }

  isDone(id: string): boolean {
    return this.#done.has(id);
  }

  /**
   * Keeps packets that are about to be sent. With `done`, the work for that packet is finished with them.
   *
   * @throws MeshError `io` when they could not be kept
   */
  add(sent: readonly Caused[], done?: string): void {
    this.#write(() => this.#append(JSON.stringify({ done: done === undefined ? [] : [done], sent })));
    for (const caused of sent) this.#keep(caused);
    if (done !== undefined) this.#remember(done);
    // The lines of what was taken over are still there.
    if (this.#lines > MAX_OUTBOX_LINES || this.#bytes > 2 * this.#keptBytes + MAX_DEAD_BYTES)
      this.#write(() => this.#rewrite());
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
    const unwatch = onAbort(signal, wake);
    await promise;
    unwatch();
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
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

  /** Does a write, and none after one that failed. */
  #write(work: () => void): void {
    if (this.#hasFailed) throw new MeshError('io', `${this.#file}: an earlier write to it failed`);
    try {
      work();
    } catch (error) {
      this.#hasFailed = true;
      throw new MeshError('io', `${this.#file}: ${toErrorMessage(error)}`, { cause: error });
    }
  }

  #append(line: string): void {
    this.#descriptor ??= openSync(this.#file, 'a', 0o600);
    const bytes = Buffer.from(`${line}\n`);
    for (let from = 0; from < bytes.length; ) from += writeSync(this.#descriptor, bytes, from);
    this.#lines += 1;
    this.#bytes += bytes.length;
  }

  /** Writes the file anew: a reader sees the old file or the new one, never half of it. */
  #rewrite(): void {
    this.close();
    const sent = this.#kept.map(({ packet, cause }) => ({ cause, packet }));
    const line = JSON.stringify({ done: [...this.#done], sent, restarts: this.#restarts });
    const text = `${this.#head}\n${line}\n`;
    writeFileSync(`${this.#file}.part`, text, { mode: 0o600 });
    renameSync(`${this.#file}.part`, this.#file);
    this.#lines = 0;
    this.#bytes = Buffer.byteLength(text);
  }

  /** The lines of this run, without a last one that its writer did not finish: nothing of that was sent. */
  #read(): string[] {
    if (!existsSync(this.#file)) return [];
    const [head, ...lines] = readFileSync(this.#file, 'utf8').split('\n').slice(0, -1);
    return head === this.#head ? lines : [];
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
