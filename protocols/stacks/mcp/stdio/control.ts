import type { Socket } from 'node:net';
import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import { amount, wireSchema } from '../../contract/wire-schema.ts';
import { readJsonLines } from './lines.ts';

/**
 * Messages between the process that serves a stack on stdio and the servers that clients start, over a socket
 * of their own: how to begin, the counts, and packets for an inbox that cannot be loaded elsewhere. Each
 * message is a line.
 */

const reportSchema = z.strictObject({
  say: z.literal('report'),
  wire: wireSchema,
  /** Packets that the server's own inbox took, and refused ones among them. */
  packets: amount,
  refused: amount,
  cpuUs: z.strictObject({ user: amount, system: amount }),
  rssBytes: amount,
  heapBytes: amount,
});
export type Report = z.infer<typeof reportSchema>;

export const fromChildSchema = z.discriminatedUnion('say', [
  reportSchema,
  z.strictObject({ say: z.literal('call'), call: z.int(), packet: z.unknown() }),
  z.strictObject({ say: z.literal('abort'), call: z.int() }),
]);
type FromChild = z.infer<typeof fromChildSchema>;

export const toChildSchema = z.discriminatedUnion('say', [
  z.strictObject({
    say: z.literal('serve'),
    implementation: z.enum(['sdk', 'bare']),
    results: z.enum(['text', 'structured', 'both']),
    /** Source of the inbox; without one, packets are sent to the serving process. */
    source: z
      .strictObject({ module: z.string(), data: z.custom<JsonValue>((value) => value !== undefined) })
      .nullable(),
  }),
  z.strictObject({ say: z.literal('ask'), collect: z.boolean() }),
  z.strictObject({ say: z.literal('answered'), call: z.int(), replies: z.array(z.unknown()) }),
  z.strictObject({ say: z.literal('failed'), call: z.int(), reason: z.string() }),
]);
type ToChild = z.infer<typeof toChildSchema>;

export function sendControl(socket: Socket, message: FromChild | ToChild): void {
  socket.write(`${JSON.stringify(message)}\n`);
}

/** Yields messages until the other end is gone. @throws ZodError for an invalid message */
export async function* receiveControl<T>(
  socket: Socket,
  schema: z.ZodType<T>,
): AsyncGenerator<T, void, undefined> {
  for await (const line of readJsonLines(socket)) yield schema.parse(JSON.parse(line));
}
