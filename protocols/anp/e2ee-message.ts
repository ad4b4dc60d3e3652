import * as z from 'zod';
import { type JsonObject, type Packet, parsePacket } from '../../core/packet.ts';
import { checked } from '../checked.ts';
import { notAPacket } from '../head.ts';
import { parseJson } from '../json-scanner.ts';
import { keyCheckFor } from '../json-shape.ts';
import type { RatchetHeader } from './e2ee-session.ts';
import { jcs } from './jcs.ts';

/**
 * A packet as `direct.send` of `anp.direct.e2ee.v2` (P5 §10.3): the ids and the DIDs in the clear and authenticated, all else
 * encrypted.
 */

/** Every member has one device. */
const DEVICE_ID = 'd1';

const counterSchema = z.string().regex(/^(0|[1-9]\d{0,14})$/, 'must be a decimal number');

const metaSchema = z.strictObject({
  profile: z.literal('anp.direct.e2ee.v2'),
  security_profile: z.literal('direct-e2ee'),
  sender_did: z.string(),
  sender_device_id: z.literal(DEVICE_ID),
  target: z.strictObject({ kind: z.literal('agent'), did: z.string() }),
  recipient_device_id: z.literal(DEVICE_ID),
  operation_id: z.string(),
  message_id: z.string(),
  content_type: z.literal('application/anp-direct-cipher+json'),
});

const bodySchema = z.strictObject({
  session_id: z.string(),
  ratchet_header: z.strictObject({ dh_pub_b64u: z.string(), pn: counterSchema, n: counterSchema }),
  ciphertext_b64u: z.string(),
});

/** No `auth`: the cipher says who it is from (P5 §3.8). */
const requestSchema = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z
    .string('anp.invalid_request_id (1000): must be a text')
    .min(1, 'anp.invalid_request_id (1000): is empty'),
  method: z.literal('direct.send'),
  params: z.strictObject({ meta: metaSchema, body: bodySchema }),
});

const plaintextSchema = z.strictObject({
  application_content_type: z.literal('application/json'),
  conversation_id: z.string(),
  reply_to_message_id: z.string().exactOptional(),
  annotations: z.strictObject({
    type: z.string(),
    tag: z.string().exactOptional(),
    token_used: z.number(),
    log_uri: z.string().exactOptional(),
    ts: z.number(),
  }),
  payload: z.custom<JsonObject>((value) => typeof value === 'object' && value !== null, 'must be an object'),
});

export type CipherMeta = z.infer<typeof metaSchema>;
export type CipherBody = z.infer<typeof bodySchema>;

export interface CipherMessage {
  readonly meta: CipherMeta;
  readonly body: CipherBody;
}

export function cipherMeta({ id }: Packet, senderDid: string, targetDid: string): CipherMeta {
  return {
    profile: 'anp.direct.e2ee.v2',
    security_profile: 'direct-e2ee',
    sender_did: senderDid,
    sender_device_id: DEVICE_ID,
    target: { kind: 'agent', did: targetDid },
    recipient_device_id: DEVICE_ID,
    operation_id: id,
    message_id: id,
    content_type: 'application/anp-direct-cipher+json',
  };
}

export function textOf({ meta, body }: CipherMessage): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    id: meta.message_id,
    method: 'direct.send',
    params: { meta, body },
  });
}

/** What is authenticated beside the plaintext: `AD_msg` of P5 §10.5. */
export function associatedData(meta: CipherMeta, sessionId: string, header: RatchetHeader): string {
  const { target, ...rest } = meta;
  return jcs({ ...rest, recipient_did: target.did, session_id: sessionId, ratchet_header: header });
}

/** What is encrypted (P5 §10.4): of the envelope, all that is not in the clear. */
export function plaintextOf(packet: Packet): string {
  const { type, reply_to, task_id, tag, token_used, log_uri, ts, payload } = packet;
  return jcs({
    application_content_type: 'application/json',
    conversation_id: task_id,
    ...(reply_to !== undefined && { reply_to_message_id: reply_to }),
    annotations: {
      type,
      ...(tag !== undefined && { tag }),
      token_used,
      ...(log_uri !== undefined && { log_uri }),
      ts,
    },
    payload,
  });
}

const checkKeys = keyCheckFor({
  jsonrpc: 'skip',
  id: 'skip',
  method: 'skip',
  params: {
    meta: {
      profile: 'skip',
      security_profile: 'skip',
      sender_did: 'skip',
      sender_device_id: 'skip',
      target: { kind: 'skip', did: 'skip' },
      recipient_device_id: 'skip',
      operation_id: 'skip',
      message_id: 'skip',
      content_type: 'skip',
    },
    body: {
      session_id: 'skip',
      ratchet_header: { dh_pub_b64u: 'skip', pn: 'skip', n: 'skip' },
      ciphertext_b64u: 'skip',
    },
  },
});

/** @throws MeshError `packet` */
export function parseCipher(blob: Uint8Array): CipherMessage {
  // Only the bytes show a key that came twice. And first: a walk over them is far cheaper than a million values that nobody wants.
  checkKeys(blob);
  const { id, params } = checked(requestSchema, parseJson(blob));
  // The id of the call is not authenticated.
  if (id !== params.meta.message_id || id !== params.meta.operation_id) {
    throw notAPacket('id, operation_id and message_id are not the same');
  }
  return params;
}

/** @throws MeshError `packet` */
export function packetOf(meta: CipherMeta, plaintext: Buffer, from: string, to: string | undefined): Packet {
  const { conversation_id, reply_to_message_id, annotations, payload } = checked(
    plaintextSchema,
    parseJson(plaintext),
  );
  return parsePacket({
    ...annotations,
    from,
    ...(to !== undefined && { to }),
    id: meta.message_id,
    ...(reply_to_message_id !== undefined && { reply_to: reply_to_message_id }),
    task_id: conversation_id,
    payload,
  });
}
