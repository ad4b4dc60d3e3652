import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { createPacketError } from '../scan/scanner.ts';
import { readText, readValue } from '../scan/shape.ts';

/**
 * This module writes a packet as a call of `direct.send`, in the words of `anp.direct.base.v1` (P3) or
 * encrypted (P5). Keys that ANP knows stand in its own fields; the rest of the envelope is in `annotations`,
 * which P3 provides for it. `from` and `to` are the DIDs of members.
 */

/** Builds the JSON-RPC call. `undefined` stands for an absent key, here as below. */
export function buildDirectSend<Params extends { readonly meta: { readonly message_id: string } }>(
  params: Params,
) {
  return { jsonrpc: '2.0', id: params.meta.message_id, method: 'direct.send', params };
}

/** Builds the part of a message that both profiles word alike: everything of the packet that is not in `meta`. */
export function buildDirectContent(
  { type, reply_to, task_id, tag, token_used, log_uri, payload }: Packet,
  ts?: number,
) {
  return {
    conversation_id: task_id,
    reply_to_message_id: reply_to,
    annotations: { type, tag, token_used, log_uri, ts },
    payload,
  };
}

/** Checks that the id of the call is that of the message, as the call's id is neither signed nor authenticated. */
export function checkRequestId(request: unknown): void {
  const id = readValue(request, 'id');
  if (typeof id !== 'string' || id === '')
    throw createPacketError('anp.invalid_request_id (1000): must be a text that is not empty');
  const meta = ['operation_id', 'message_id'].map((name) => readText(request, 'params', 'meta', name));
  if (meta.some((other) => other !== id))
    throw createPacketError('id, operation_id and message_id are not the same');
}
