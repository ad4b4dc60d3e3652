import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, type Packet, parsePacket, shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import { PACKET_TOOL } from './revision.ts';

/**
 * Converts a packet to the arguments of one call of the tool `mesh.packet`, the same for every transport and
 * implementation. They look as the adapter `mcp` writes them, except that `id` and `from` are arguments too,
 * because request numbers belong to the transport and a client's name to the session. The answer is the
 * call's result.
 */
export function packetToArguments(packet: Packet) {
  const { id, from, type, to, reply_to, task_id, tag, token_used, log_uri, ts, payload } = packet;
  return {
    id,
    from,
    type,
    to,
    reply_to,
    task_id,
    tag,
    token_used,
    log_uri,
    ts,
    payload,
  };
}

const text = z.string();
const count = z.int().nonnegative();
/** Schema of a packet in `tools/list`. {@link parsePacket} checks its bounds, once. */
export const packetSchema = z.strictObject({
  id: text,
  from: text,
  type: text,
  to: text.optional(),
  reply_to: text.optional(),
  task_id: text,
  tag: text.optional(),
  token_used: count,
  log_uri: text.optional(),
  ts: count,
  payload: z.record(z.string(), z.unknown()),
});

/** @throws MeshError `packet` for a server that takes no packets */
export function checkTools(tools: readonly { readonly name: string }[]): void {
  const names = tools.map(({ name }) => name);
  if (!names.includes(PACKET_TOOL))
    throw new MeshError('packet', `MCP: expected a tool ${PACKET_TOOL}, received ${names}`);
}

const resultSchema = z.object({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});
const foundSchema = z.object({ replies: z.array(z.unknown()) });

/** @throws MeshError `agent` for failed work, `packet` for a result without packets */
export function parseReplies(result: unknown, id: string): readonly Packet[] {
  const { content, structuredContent, isError } = parseContent(resultSchema, result, `the result of ${id}`);
  const [first] = content;
  if (isError === true)
    throw new MeshError('agent', `MCP: the call of ${id} failed: ${shortenReason(first?.text ?? '')}`);
  return parseContent(foundSchema, structuredContent, `the result of ${id}`).replies.map(parsePacket);
}

/** @throws MeshError `packet`, naming the invalid part */
export function parseContent<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const { success, data, error } = schema.safeParse(value);
  if (!success) throw new MeshError('packet', `MCP: ${what}: ${formatIssues(error)}`);
  return data;
}
