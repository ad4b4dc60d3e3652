import * as z from 'zod';
import type { HttpBinding } from './http-binding.ts';
import { call, type Ends } from './json-rpc.ts';

const requestSchema = z.object({
  params: z.object({ meta: z.object({ operation_id: z.string(), target: z.object({ did: z.string() }) }) }),
});
const result = z.object({
  accepted: z.literal(true),
  message_id: z.string(),
  operation_id: z.string(),
  target_did: z.string(),
  accepted_at: z.iso.datetime(),
});

/**
 * Agent Network Protocol 1.2 over HTTP: `direct.send` (P3 §7.1), its origin proof verified, answered as accepted (P3 §7.1.3). The
 * authentication of the hop, which ANP asks of the connection (P3 §9.4), is not part of it; that ANP allows no HTTP without TLS
 * (P1 §4.2) is the reader's to know.
 */
export function anpHttp({ write, read }: Ends): HttpBinding {
  return {
    adapter: 'anp',
    client: '`fetch`',
    connect: async (url) => (packet, signal) => call(url, packet.id, { body: write(packet), result, signal }),
    answer: async (_request, body) => {
      const { id } = read(body);
      const { operation_id, target } = requestSchema.parse(JSON.parse(body.toString())).params.meta;
      const accepted_at = new Date().toISOString();
      const accepted = { accepted: true, message_id: id, operation_id, target_did: target.did, accepted_at };
      return { body: { jsonrpc: '2.0', id, result: accepted } };
    },
  };
}
