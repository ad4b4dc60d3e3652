import * as z from 'zod';
import { addLine, createLedgerLine, type LedgerLine, ledgerLineSchema } from '../contracts/ledger.ts';
import { MAX_PACKET_TYPES } from '../contracts/limits.ts';
import { findOrAddEntry } from '../contracts/others.ts';
import type { JsonObject } from '../contracts/packet.ts';

export const ledgerReportSchema = z.strictObject({
  /**
   * One entry per packet type that was sent. Times are sums in microseconds: in the tool, and in the codec.
   */
  sent: z
    .array(
      z.strictObject({
        type: z.string(),
        line: ledgerLineSchema,
        tool_us: z.number().nonnegative(),
        encode_us: z.number().nonnegative(),
      }),
    )
    .max(MAX_PACKET_TYPES + 1),
  /**
   * Counters of received packets. `decode_us` covers all packets; most of them need only their heads read.
   */
  received: z.strictObject({
    packets: z.int().nonnegative(),
    bytes: z.int().nonnegative(),
    decode_us: z.number().nonnegative(),
  }),
  /** Blobs that did not decode or validate here. */
  refused: z.strictObject({ packets: z.int().nonnegative(), bytes: z.int().nonnegative() }),
});

export type LedgerReport = z.infer<typeof ledgerReportSchema>;

/** Accumulates the ledger of one agent. */
export class AgentLedger {
  readonly #sent = new Map<string, { line: LedgerLine; toolUs: number; encodeUs: number }>();
  readonly #received = { packets: 0, bytes: 0, decode_us: 0 };
  readonly #refused = { packets: 0, bytes: 0 };

  sent(type: string, line: LedgerLine, times: { readonly toolUs: number; readonly encodeUs: number }): void {
    const entry = findOrAddEntry(this.#sent, type, () => ({
      line: createLedgerLine(),
      toolUs: 0,
      encodeUs: 0,
    }));
    addLine(entry.line, line);
    entry.toolUs += times.toolUs;
    entry.encodeUs += times.encodeUs;
  }

  received(frameBytes: number, decodeUs: number): void {
    this.#received.packets += 1;
    this.#received.bytes += frameBytes;
    this.#received.decode_us += decodeUs;
  }

  refused(frameBytes: number): void {
    this.#refused.packets += 1;
    this.#refused.bytes += frameBytes;
  }

  toPayload(): JsonObject {
    return {
      sent: [...this.#sent].map(([type, { line, toolUs, encodeUs }]) => ({
        type,
        line: { ...line },
        tool_us: Math.round(toolUs),
        encode_us: Math.round(encodeUs),
      })),
      received: { ...this.#received, decode_us: Math.round(this.#received.decode_us) },
      refused: { ...this.#refused },
    };
  }
}
