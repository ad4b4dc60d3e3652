import type { Socket } from 'node:net';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import { amount, wireSchema } from './contract/wire-sum.ts';
import { readJsonLines } from './mcp/stdio/lines.ts';

/**
 * Maximum bytes of a line: the packet of a largest frame, of which escapes take up to three times the bytes, and the
 * rest of the line.
 */
const MAX_LINE_BYTES = 4 * MAX_FRAME_BYTES;

const messageSchema = z.union([
  z.strictObject({ call: z.int(), ask: z.looseObject({ do: z.string() }) }),
  z.strictObject({ call: z.int(), value: z.unknown() }),
  z.strictObject({ call: z.int(), failed: z.string() }),
  z.strictObject({ call: z.int(), abort: z.literal(true) }),
]);
type Message = z.infer<typeof messageSchema>;

/** Totals of a process that has a server or a client of a stack. */
export const processCountsSchema = z.object({
  /** Bytes of its own pipes; null if it has none. */
  wire: wireSchema.nullable(),
  /** Packets that an inbox in that process took, and refused ones among them. */
  packets: amount,
  refused: amount,
  cpuUs: z.object({ user: amount, system: amount }),
  rssBytes: amount,
});
export type ProcessCounts = z.infer<typeof processCountsSchema>;

/** Returns this process's usage so far: CPU time in microseconds, and memory in bytes. */
export function readProcessUsage(): Pick<ProcessCounts, 'cpuUs' | 'rssBytes'> {
  const { user, system } = process.cpuUsage();
  return { cpuUs: { user, system }, rssBytes: process.memoryUsage.rss() };
}

/** A question to the other process: the action `do`, and its arguments. */
export type Question = Extract<Message, { ask: object }>['ask'];

/**
 * A channel between the process of a stack and a process that it has started, in any language. Both ends ask. Each
 * line is a message in JSON: a question, or the answer to a numbered question, its failure or its cancellation.
 */
export class ControlChannel {
  readonly #socket: Socket;
  readonly #calls = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #running = new Map<number, AbortController>();
  /** Resolves when the other process has ended. */
  readonly ended: Promise<void>;
  #last = 0;

  /**
   * @param answer answers the other process's questions
   * @param maxLineBytes maximum bytes of a message; a longer one ends the channel
   */
  constructor(
    socket: Socket,
    answer: (question: Question, signal: AbortSignal) => Promise<unknown>,
    maxLineBytes = MAX_LINE_BYTES,
  ) {
    this.#socket = socket;
    socket.on('error', () => socket.destroy());
    this.ended = this.#read(answer, maxLineBytes).then(
      () => this.#end('it closed the channel'),
      (error: unknown) => this.#end(toErrorMessage(error)),
    );
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /** @throws MeshError `agent` if the other process fails or has ended; the reason of `signal` if it is aborted */
  async ask(question: Question, signal?: AbortSignal): Promise<unknown> {
    signal?.throwIfAborted();
    if (!this.isOpen) throw new MeshError('agent', 'its process is gone');
    this.#last += 1;
    const call = this.#last;
    const answer = Promise.withResolvers<unknown>();
    const abort = () => {
      this.#write({ call, abort: true });
      answer.reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    this.#calls.set(call, answer);
    this.#write({ call, ask: question });
    try {
      return await answer.promise;
    } finally {
      this.#calls.delete(call);
      signal?.removeEventListener('abort', abort);
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  async #read(
    answer: (question: Question, signal: AbortSignal) => Promise<unknown>,
    maxLineBytes: number,
  ): Promise<void> {
    for await (const line of readJsonLines(this.#socket, maxLineBytes)) {
      const message = messageSchema.parse(JSON.parse(line));
      if ('ask' in message) void this.#answer(message, answer);
      else if ('abort' in message) this.#running.get(message.call)?.abort();
      else if ('failed' in message)
        this.#calls.get(message.call)?.reject(new MeshError('agent', message.failed));
      else this.#calls.get(message.call)?.resolve(message.value);
    }
  }

  async #answer(
    { call, ask }: Extract<Message, { ask: object }>,
    answer: (question: Question, signal: AbortSignal) => Promise<unknown>,
  ): Promise<void> {
    const abort = new AbortController();
    this.#running.set(call, abort);
    try {
      this.#write({ call, value: (await answer(ask, abort.signal)) ?? null });
    } catch (error) {
      this.#write({ call, failed: shortenReason(toErrorMessage(error)) });
    } finally {
      this.#running.delete(call);
    }
  }

  #end(why: string): void {
    this.#socket.destroy();
    for (const { reject } of this.#calls.values())
      reject(new MeshError('agent', `its process is gone: ${why}`));
    for (const abort of this.#running.values()) abort.abort();
  }

  #write(message: Message): void {
    if (this.isOpen) this.#socket.write(`${JSON.stringify(message)}\n`);
  }
}
