import { issuesOf, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import { parseJson } from '../scan/json.ts';
import { notAPacket } from '../scan/scanner.ts';
import { assertSame, lookAt, shapeOf, textAt, valueAt } from '../scan/shape.ts';
import { checkRequestId, contentOf, directSend } from './direct-send.ts';
import type { RatchetHeader } from './e2ee-session.ts';
import { jcs } from './texts.ts';

/**
 * A packet as `direct.send` of `anp.direct.e2ee.v2` (P5 §10.3): the ids and the DIDs in the clear and authenticated, all else
 * encrypted. There is no `auth`: the cipher says who it is from (P5 §3.8).
 */

/** Every member has one device. */
const DEVICE_ID = 'd1';

const counterSchema = z.string().regex(/^(0|[1-9]\d{0,14})$/, 'must be a decimal number');

const bodySchema = z.strictObject({
  session_id: z.string(),
  ratchet_header: z.strictObject({ dh_pub_b64u: z.string(), pn: counterSchema, n: counterSchema }),
  ciphertext_b64u: z.string(),
});

type CipherMeta = ReturnType<typeof cipherMeta>;

interface CipherMessage {
  readonly meta: CipherMeta;
  readonly body: z.infer<typeof bodySchema>;
}

export function cipherMeta({ id }: Pick<Packet, 'id'>, senderDid: string, targetDid: string) {
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
  return JSON.stringify(directSend({ meta, body }));
}

/** What is authenticated beside the plaintext: `AD_msg` of P5 §10.5. */
export function associatedData(meta: CipherMeta, sessionId: string, header: RatchetHeader): string {
  const { target, ...rest } = meta;
  return jcs({ ...rest, recipient_did: target.did, session_id: sessionId, ratchet_header: header });
}

/** What is encrypted (P5 §10.4): of the envelope, all that is not in the clear. */
export function plaintextOf(packet: Packet): string {
  return jcs(plainObjectOf(packet));
}

function plainObjectOf(packet: Packet) {
  return { application_content_type: 'application/json', ...contentOf(packet, packet.ts) };
}

const plaintextShape = shapeOf(plainObjectOf);
const { checkKeys } = lookAt([
  (packet) => {
    const ratchet_header = { dh_pub_b64u: '', pn: '', n: '' };
    const body = { session_id: '', ratchet_header, ciphertext_b64u: '' };
    return directSend({ meta: cipherMeta(packet, packet.from, packet.to ?? ''), body });
  },
]);

/** @throws MeshError `packet` */
export function parseCipher(blob: Uint8Array): CipherMessage {
  // Only the bytes show a key that came twice. And first: a walk over them is far cheaper than a million values that nobody wants.
  checkKeys(blob);
  const value = parseJson(blob);
  checkRequestId(value);
  const at = (...path: string[]) => textAt(value, 'params', 'meta', ...path);
  const meta = cipherMeta({ id: at('message_id') }, at('sender_did'), at('target', 'did'));
  const body = bodySchema.safeParse(valueAt(value, 'params', 'body'));
  if (!body.success) throw notAPacket(issuesOf(body.error));
  assertSame(directSend({ meta, body: body.data }), value);
  return { meta, body: body.data };
}

/** @throws MeshError `packet` */
export function packetOf(meta: CipherMeta, plaintext: Buffer, from: string, to: string | undefined): Packet {
  return plaintextShape.read(parseJson(plaintext), (found) => {
    found.id = meta.message_id;
    found.from = from;
    if (to !== undefined) found.to = to;
  });
}
