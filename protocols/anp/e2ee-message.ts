import { formatIssues, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import { parseJson } from '../scan/json.ts';
import { createPacketError } from '../scan/scanner.ts';
import { assertSame, createLook, createShape, readText, readValue } from '../scan/shape.ts';
import { buildDirectContent, buildDirectSend, checkRequestId } from './direct-send.ts';
import type { RatchetHeader } from './e2ee-session.ts';
import { canonicalizeJson } from './texts.ts';

/**
 * This module writes a packet as `direct.send` of `anp.direct.e2ee.v2` (P5 §10.3): the ids and the DIDs are
 * in the clear and authenticated, everything else is encrypted. There is no `auth`: the cipher proves the
 * sender (P5 §3.8).
 */

/** Device id of every member: each has one device. */
const DEVICE_ID = 'd1';

const counterSchema = z.string().regex(/^(0|[1-9]\d{0,14})$/, 'must be a decimal number');

const bodySchema = z.strictObject({
  session_id: z.string(),
  ratchet_header: z.strictObject({ dh_pub_b64u: z.string(), pn: counterSchema, n: counterSchema }),
  ciphertext_b64u: z.string(),
});

type CipherMeta = ReturnType<typeof buildCipherMeta>;

interface CipherMessage {
  readonly meta: CipherMeta;
  readonly body: z.infer<typeof bodySchema>;
}

export function buildCipherMeta({ id }: Pick<Packet, 'id'>, senderDid: string, targetDid: string) {
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

export function formatCipherMessage({ meta, body }: CipherMessage): string {
  return JSON.stringify(buildDirectSend({ meta, body }));
}

/** Encodes the data that is authenticated beside the plaintext: `AD_msg` of P5 §10.5. */
export function encodeAssociatedData(meta: CipherMeta, sessionId: string, header: RatchetHeader): string {
  const { target, ...rest } = meta;
  return canonicalizeJson({
    ...rest,
    recipient_did: target.did,
    session_id: sessionId,
    ratchet_header: header,
  });
}

/** Formats the plaintext (P5 §10.4): every key of the envelope that is not in the clear. */
export function formatPlaintext(packet: Packet): string {
  return canonicalizeJson(buildPlainObject(packet));
}

function buildPlainObject(packet: Packet) {
  return { application_content_type: 'application/json', ...buildDirectContent(packet, packet.ts) };
}

const plaintextShape = createShape(buildPlainObject);
const { checkKeys } = createLook([
  (packet) => {
    const ratchet_header = { dh_pub_b64u: '', pn: '', n: '' };
    const body = { session_id: '', ratchet_header, ciphertext_b64u: '' };
    return buildDirectSend({ meta: buildCipherMeta(packet, packet.from, packet.to ?? ''), body });
  },
]);

/** Parses an encrypted message. @throws MeshError `packet` */
export function parseCipher(blob: Uint8Array): CipherMessage {
  // Only the bytes show a key that stands there twice. The check comes first, as a walk over bytes is far
  // cheaper than parsing a million useless values.
  checkKeys(blob);
  const value = parseJson(blob);
  checkRequestId(value);
  const at = (...path: string[]) => readText(value, 'params', 'meta', ...path);
  const meta = buildCipherMeta({ id: at('message_id') }, at('sender_did'), at('target', 'did'));
  const body = bodySchema.safeParse(readValue(value, 'params', 'body'));
  if (!body.success) throw createPacketError(formatIssues(body.error));
  assertSame(buildDirectSend({ meta, body: body.data }), value);
  return { meta, body: body.data };
}

/** Restores a packet from its decrypted text. @throws MeshError `packet` */
export function restorePacket(
  meta: CipherMeta,
  plaintext: Buffer,
  from: string,
  to: string | undefined,
): Packet {
  return plaintextShape.read(parseJson(plaintext), (found) => {
    found.id = meta.message_id;
    found.from = from;
    if (to !== undefined) found.to = to;
  });
}
