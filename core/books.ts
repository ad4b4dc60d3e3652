import * as z from 'zod';
import { addLine, type LedgerLine, ledgerLineSchema } from './ledger.ts';
import type { JsonObject } from './packet.ts';

/**
 * The books of one agent: what it sent, as only the sender can know it. The hub counts whole frames and nothing else,
 * so accounting costs the relay nothing; after the last task it sends `mesh.settle`, each agent answers with
 * `mesh.books`, and the two are compared. Both packets are session bytes.
 */
export const SETTLE_TYPE = 'mesh.settle';
export const BOOKS_TYPE = 'mesh.books';

export const booksSchema = z.strictObject({
  /** One entry a packet type that was sent. `tool_us` is the time in the tool, summed, in microseconds. */
  sent: z
    .array(z.strictObject({ type: z.string(), line: ledgerLineSchema, tool_us: z.number().nonnegative() }))
    .max(10_000),
  received: z.strictObject({ packets: z.int().nonnegative(), bytes: z.int().nonnegative() }),
  /** Blobs that did not decode or validate here. */
  refused: z.strictObject({ packets: z.int().nonnegative(), bytes: z.int().nonnegative() }),
});

export type Books = z.infer<typeof booksSchema>;

/** Books in the making. */
export class BookKeeper {
  readonly #sent = new Map<string, { line: LedgerLine; toolUs: number }>();
  readonly #received = { packets: 0, bytes: 0 };
  readonly #refused = { packets: 0, bytes: 0 };

  sent(type: string, line: LedgerLine, toolUs: number): void {
    const entry = this.#sent.get(type);
    if (entry === undefined) {
      this.#sent.set(type, { line, toolUs });
      return;
    }
    addLine(entry.line, line);
    entry.toolUs += toolUs;
  }

  received(frameBytes: number): void {
    this.#received.packets += 1;
    this.#received.bytes += frameBytes;
  }

  refused(frameBytes: number): void {
    this.#refused.packets += 1;
    this.#refused.bytes += frameBytes;
  }

  toPayload(): JsonObject {
    return {
      sent: [...this.#sent].map(([type, { line, toolUs }]) => ({
        type,
        line: { ...line },
        tool_us: Math.round(toolUs),
      })),
      received: { ...this.#received },
      refused: { ...this.#refused },
    };
  }
}
