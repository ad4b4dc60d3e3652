import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { messageOf } from '../errors.ts';
import { DELIVERY_WINDOW, MAX_DONE_IDS, MAX_OUTBOX_BYTES, MAX_OUTBOX_PACKETS } from '../limits.ts';
import { type Packet, parsePacket } from '../packet.ts';

export const OUTBOX_FILE = 'outbox.jsonl';

/** The file is written anew, without what the hub has taken over, when so much of it is of no more use. */
const MAX_DEAD_BYTES = 4 * 1024 * 1024;

/** The first line names the run; each other one what was done, and the packets that came of it. */
const runSchema = z.object({ run: z.string() });
const workSchema = z.object({
  done: z.array(z.string()),
  sent: z.array(z.object({ cause: z.string(), packet: z.unknown() })),
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
 * What an agent has sent and the hub has not yet taken over, and which packets it is done with, in its workspace. A result is written
 * here, whole, before any of it is sent: an agent that is killed finds it again, so that no finished work is done twice and none is lost.
 * Written is handed to the system, which outlives the process; a machine that loses its power may lose it.
 */
export class Outbox {
  readonly #file: string;
  #runId: string | undefined;
  #descriptor: number | undefined;
  #kept: Kept[] = [];
  readonly #done = new Set<string>();
  #keptBytes = 0;
  #fileBytes = 0;
  /** Packets of the present connection that the hub has taken over. */
  #taken = 0;
  #waiting: (() => void)[] = [];

  constructor(workspace: string) {
    this.#file = path.join(workspace, OUTBOX_FILE);
    this.#load();
  }

  /** What the agent was done with last in that run, as the hub is to know it: of what was under way nothing else may be missing. */
  doneIn(runId: string): string[] {
    return runId === this.#runId ? [...this.#done].slice(-DELIVERY_WINDOW) : [];
  }

  /** A connection of the run begins; `have` is the last packet that the hub has. Another run begins with nothing. */
  begin(runId: string, have: string | null): void {
    if (runId !== this.#runId) {
      this.#runId = runId;
      this.#kept = [];
      this.#done.clear();
    } else {
      const index = this.#kept.findIndex(({ packet }) => packet.id === have);
      this.#kept.splice(0, index + 1);
    }
    this.#taken = 0;
    this.#rewrite();
    this.#wake();
  }

  /** Packets that are to be sent again, in order. */
  get kept(): readonly Caused[] {
    return [...this.#kept];
  }

  isDone(id: string): boolean {
    return this.#done.has(id);
  }

  /** Keeps packets that are about to be sent; with `done`, the work for that packet is finished with them. */
  add(sent: readonly Caused[], done?: string): void {
    if (done !== undefined) this.#remember(done);
    this.#append(`${JSON.stringify({ done: done === undefined ? [] : [done], sent })}\n`);
    for (const caused of sent) this.#keep(caused);
    // The lines of what was taken over are still in the file.
    if (this.#fileBytes > 2 * this.#keptBytes + MAX_DEAD_BYTES) this.#rewrite();
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
    signal.addEventListener('abort', wake, { once: true });
    await promise;
    signal.removeEventListener('abort', wake);
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

  #append(text: string): void {
    this.#descriptor ??= openSync(this.#file, 'a', 0o600);
    const bytes = Buffer.from(text);
    for (let from = 0; from < bytes.length; ) from += writeSync(this.#descriptor, bytes, from);
    this.#fileBytes += bytes.length;
  }

  /** A reader sees the old file or the new one, never half of it. */
  #rewrite(): void {
    this.close();
    this.#keptBytes = this.#kept.reduce((sum, { bytes }) => sum + bytes, 0);
    const sent = this.#kept.map(({ packet, cause }) => ({ cause, packet }));
    const lines = [{ run: this.#runId }, { done: [...this.#done], sent }];
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    writeFileSync(`${this.#file}.part`, text, { mode: 0o600 });
    renameSync(`${this.#file}.part`, this.#file);
    this.#fileBytes = Buffer.byteLength(text);
  }

  /** The last line may be torn: nothing of it was sent. */
  #load(): void {
    if (!existsSync(this.#file)) return;
    const [first = '', ...lines] = readFileSync(this.#file, 'utf8').split('\n').slice(0, -1);
    try {
      this.#runId = runSchema.parse(JSON.parse(first)).run;
      for (const line of lines) {
        const { done, sent } = workSchema.parse(JSON.parse(line));
        for (const id of done) this.#remember(id);
        for (const { cause, packet } of sent) this.#keep({ cause, packet: parsePacket(packet) });
      }
    } catch (error) {
      // Only the agent writes here: whatever it is, nothing of it may be sent.
      throw new Error(`${this.#file} cannot be read: ${messageOf(error)}`, { cause: error });
    }
  }
}
