import * as z from 'zod';
import { type JsonObject, type Packet, type PacketHead, parsePacket } from '../../core/packet.ts';
import { checked } from '../checked.ts';
import { notAPacket } from '../head.ts';
import { parseJson } from '../json-scanner.ts';
import { peekFor } from '../json-shape.ts';
import type { Member, Members } from './members.ts';
import { type OriginProof, originProofSchema, type SignedRequest } from './origin-proof.ts';

/**
 * A packet as `direct.send` of `anp.direct.base.v1` (P3). What ANP has a place for is there; the rest of the envelope is in
 * `annotations`, which are P3's place for it. `from` and `to` are the DIDs of members.
 */

/** The last instant that RFC 3339 can write: years have four digits. */
const MAX_RFC3339_MS = Date.parse('9999-12-31T23:59:59.999Z');

const createdAtSchema = z.string().refine((text) => {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text;
}, 'must be RFC 3339 in UTC with milliseconds');

const metaSchema = z.strictObject({
  profile: z.literal('anp.direct.base.v1'),
  security_profile: z.literal('transport-protected'),
  sender_did: z.string(),
  target: z.strictObject({ kind: z.literal('agent'), did: z.string() }),
  operation_id: z.string(),
  message_id: z.string(),
  created_at: createdAtSchema.exactOptional(),
  content_type: z.literal('application/json'),
});

const bodySchema = z.strictObject({
  conversation_id: z.string(),
  reply_to_message_id: z.string().exactOptional(),
  annotations: z.strictObject({
    type: z.string(),
    tag: z.string().exactOptional(),
    token_used: z.number(),
    log_uri: z.string().exactOptional(),
    ts: z.number().exactOptional(),
  }),
  payload: z.custom<JsonObject>((value) => typeof value === 'object' && value !== null, 'must be an object'),
});

/** Only what the mesh writes: unknown fields of `meta` and `auth`, and device ids, must be refused (P1 §12.1, P3 §7.1.2). */
const requestSchema = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z
    .string('anp.invalid_request_id (1000): must be a text')
    .min(1, 'anp.invalid_request_id (1000): is empty'),
  method: z.literal('direct.send'),
  params: z.strictObject({
    meta: metaSchema,
    auth: z.strictObject({
      scheme: z.literal('anp-rfc9421-origin-proof-v1'),
      origin_proof: originProofSchema,
    }),
    body: bodySchema,
  }),
});

export interface DirectMessage extends SignedRequest {
  readonly method: 'direct.send';
  readonly meta: z.infer<typeof metaSchema>;
  readonly body: z.infer<typeof bodySchema>;
}

/** What of the request is signed. */
export function messageOf(packet: Packet, senderDid: string, targetDid: string): DirectMessage {
  const { type, id, reply_to, task_id, tag, token_used, log_uri, ts, payload } = packet;
  const hasDate = ts <= MAX_RFC3339_MS;
  return {
    method: 'direct.send',
    meta: {
      profile: 'anp.direct.base.v1',
      security_profile: 'transport-protected',
      sender_did: senderDid,
      target: { kind: 'agent', did: targetDid },
      operation_id: id,
      message_id: id,
      ...(hasDate && { created_at: new Date(ts).toISOString() }),
      content_type: 'application/json',
    },
    body: {
      conversation_id: task_id,
      ...(reply_to !== undefined && { reply_to_message_id: reply_to }),
      annotations: {
        type,
        ...(tag !== undefined && { tag }),
        token_used,
        ...(log_uri !== undefined && { log_uri }),
        ...(!hasDate && { ts }),
      },
      payload,
    },
  };
}

/** The request, with its proof. */
export function textOf({ method, meta, body }: DirectMessage, proof: OriginProof): string {
  const auth = { scheme: 'anp-rfc9421-origin-proof-v1', origin_proof: proof };
  return JSON.stringify({ jsonrpc: '2.0', id: meta.message_id, method, params: { meta, auth, body } });
}

/**
 * A request and its proof, which is not verified yet.
 *
 * @throws MeshError `packet`
 */
export function parseRequest(blob: Uint8Array): { message: DirectMessage; proof: OriginProof } {
  const { id, method, params } = checked(requestSchema, parseJson(blob));
  const { meta, auth, body } = params;
  // The id of the call is not signed.
  if (id !== meta.message_id || id !== meta.operation_id) {
    throw notAPacket('id, operation_id and message_id are not the same');
  }
  return { message: { method, meta, body }, proof: auth.origin_proof };
}

/** @throws MeshError `packet` */
export function packetOf({ meta, body }: DirectMessage, sender: Member, members: Members): Packet {
  const { conversation_id, reply_to_message_id, annotations, payload } = body;
  const { ts, ...rest } = annotations;
  const to = members.nodeOfTarget(meta.target.did);
  if ((ts === undefined) === (meta.created_at === undefined)) {
    throw notAPacket('the time must be in created_at, or in annotations.ts where it has no date');
  }
  return parsePacket({
    ...rest,
    from: sender.node,
    ...(to !== undefined && { to }),
    id: meta.message_id,
    ...(reply_to_message_id !== undefined && { reply_to: reply_to_message_id }),
    task_id: conversation_id,
    ts: ts ?? Date.parse(meta.created_at ?? ''),
    payload,
  });
}

/** Reads the head and verifies nothing; whoever decodes verifies. */
export function peekOf(members: Members): (blob: Uint8Array) => PacketHead {
  return peekFor({
    jsonrpc: 'skip',
    id: 'skip',
    method: 'skip',
    params: {
      meta: {
        profile: 'skip',
        security_profile: 'skip',
        sender_did: (did, head) => {
          head.named('from');
          head.text('from', members.ofDid(did).node);
        },
        target: {
          kind: 'skip',
          did: (did, head) => {
            const to = members.nodeOfTarget(did);
            if (to !== undefined) head.text('to', to);
          },
        },
        operation_id: 'skip',
        message_id: 'id',
        created_at: 'ts',
        content_type: 'skip',
      },
      auth: {
        scheme: 'skip',
        origin_proof: { contentDigest: 'skip', signatureInput: 'skip', signature: 'skip' },
      },
      body: {
        conversation_id: 'task_id',
        reply_to_message_id: 'reply_to',
        annotations: { type: 'type', tag: 'tag', token_used: 'token_used', log_uri: 'log_uri', ts: 'ts' },
        payload: 'payload',
      },
    },
  });
}
