import { createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import type {
  AdapterSession,
  Codec,
  Membership,
  PeerIdentity,
  ProtocolAdapter,
} from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { PREFIX_BYTES } from '@gaia-mesh/core/wire/frame.ts';
import * as z from 'zod';
import { buildDirectContent, buildDirectSend, checkRequestId } from './anp/direct-send.ts';
import {
  createSizedParts,
  type DeviceKeys,
  type RatchetHeader,
  ReceivingSession,
  type SenderKeys,
  SendingSession,
} from './anp/e2ee-session.ts';
import { createMemberIdentity, type Peer, PeerTable, realSources, type Sources } from './anp/members.ts';
import { canonicalizeJson, countBase64urlLetters, decodeBase64 } from './anp/texts.ts';
import { TAG_BYTES } from './layers/aead.ts';
import { deriveKey, exportPublicKey, importPrivateKey, importPublicKey, KEY_BYTES } from './layers/keys.ts';
import { refuseOpen } from './layers/layer.ts';
import { parseJson } from './scan/json.ts';
import { createPacketError } from './scan/scanner.ts';
import { assertSame, createLook, createShape, readText, readValue } from './scan/shape.ts';

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

const NAME = 'anp-e2ee';

interface E2eeSources extends Sources {
  /**
   * Returns 32 bytes for the ratchet key of one session. They must differ every time, whatever the member's
   * seed, because the keys of messages follow from them.
   */
  ratchetSecret(): Uint8Array;
  /** Returns the private keys that decrypt what is addressed to `did`. */
  deviceOf(runKey: Uint8Array, did: string): DeviceKeys;
}

/**
 * Agent Network Protocol 1.2 with the end-to-end cipher of P5 v2, one session for every sender and addressee.
 *
 * The hub forwards frames as they came, and every member must read the head of each. So the run holds the
 * addressee's side of a session: its private keys are derived from the run key, which all members know, and
 * not from a secret of the addressee. The sender holds its own side: a static and an ephemeral key, whose
 * public halves it offers, and a ratchet key for each session. Outsiders can therefore neither read nor forge
 * anything. Members read everything and could write as each other; the hub prevents that, as it knows which
 * member each connection belongs to. Without a secret the run key is all zero: the cipher then has its full
 * cost and protects nothing.
 */
export const anpE2ee: ProtocolAdapter = createAnpE2eeAdapter({
  ...realSources,
  ratchetSecret: () => randomBytes(KEY_BYTES),
  deviceOf: deriveSharedDevice,
});

function deriveSharedDevice(runKey: Uint8Array, did: string): DeviceKeys {
  const keyOf = (keyName: string) =>
    importPrivateKey('X25519', deriveKey(runKey, `${NAME} ${keyName} ${did}`));
  return { staticKey: keyOf('static'), signedPrekey: keyOf('prekey'), ratchet: keyOf('ratchet') };
}

/** Creates the adapter with its sources of keys and time. */
export function createAnpE2eeAdapter(sources: E2eeSources): ProtocolAdapter {
  return {
    name: NAME,
    open: refuseOpen(NAME),
    join: (member) => join(member, sources),
  };
}

interface Self {
  readonly node: string;
  readonly did: string;
  readonly keys: SenderKeys;
  /**
   * Sessions by the addressee's DID. They are shared because the hub opens a codec for every connection, and
   * a message number must not be used twice.
   */
  readonly sending: Map<string, SendingSession>;
}

function join(member: PeerIdentity, sources: E2eeSources): Membership {
  const identity = createMemberIdentity(member, sources);
  const ephemeral = importPrivateKey('X25519', sources.secretOf(member, 'ephemeral'));
  const self: Self = {
    node: member.self,
    did: identity.did,
    keys: { staticKey: identity.agreementKey, ephemeral },
    sending: new Map(),
  };
  return {
    offer: {
      did_document: identity.document,
      sender_ephemeral_pub_b64u: exportPublicKey(ephemeral).toString('base64url'),
    },
    open: (session) => openCodec(self, session, sources),
  };
}

function openCodec(self: Self, session: AdapterSession, sources: E2eeSources): Codec {
  const members = new PeerTable(session, sources.everybody);
  const receiving = new Map<string, ReceivingSession>();
  /** Message numbers of encoded packets, so that `headerSize` counts as many digits as were written. */
  const numbers = new WeakMap<Packet, number>();
  // A WeakSet keeps no blob in memory; a WeakRef would keep it until the end of the turn.
  const opened = new WeakSet<Uint8Array>();

  function targetOf(packet: Packet): string {
    if (packet.from !== self.node) {
      throw new MeshError('packet', `${self.node} cannot encrypt for ${packet.from}`);
    }
    return members.didOfTarget(packet.to);
  }

  function sendingTo(did: string): SendingSession {
    let sending = self.sending.get(did);
    if (sending === undefined) {
      const ratchet = importPrivateKey('X25519', sources.ratchetSecret());
      sending = new SendingSession(
        self.keys,
        extractPublicKeys(sources.deviceOf(session.runKey, did)),
        ratchet,
      );
      self.sending.set(did, sending);
    }
    return sending;
  }

  function receivingFrom(sender: Peer, did: string): ReceivingSession {
    const key = `${sender.did} ${did}`;
    let received = receiving.get(key);
    if (received === undefined) {
      const keys = { staticKey: sender.agreementKey, ephemeral: parseEphemeralKey(sender) };
      received = new ReceivingSession(keys, sources.deviceOf(session.runKey, did));
      receiving.set(key, received);
    }
    return received;
  }

  function encode(packet: Packet): Uint8Array {
    const did = targetOf(packet);
    const meta = buildCipherMeta(packet, self.did, did);
    const plaintext = formatPlaintext(packet);
    const sending = sendingTo(did);
    numbers.set(packet, sending.n);
    const { header, ciphertext } = sending.seal(plaintext, (own) =>
      encodeAssociatedData(meta, sending.id, own),
    );
    const body = { session_id: sending.id, ratchet_header: header, ciphertext_b64u: ciphertext };
    return Buffer.from(formatCipherMessage({ meta, body }));
  }

  /**
   * Counts as many digits as the packet's number has; a packet that was not encoded counts like the last one
   * to its addressee.
   */
  function headerSize(packet: Packet): number {
    const did = targetOf(packet);
    const empty = { ...packet, payload: {} };
    const last = Math.max((self.sending.get(did)?.n ?? 0) - 1, 0);
    const { sessionId, header } = createSizedParts(numbers.get(packet) ?? last);
    const body = { session_id: sessionId, ratchet_header: header, ciphertext_b64u: '' };
    const clearBytes = Buffer.byteLength(
      formatCipherMessage({ meta: buildCipherMeta(packet, self.did, did), body }),
    );
    const sealedBytes = Buffer.byteLength(formatPlaintext(empty)) + TAG_BYTES;
    return PREFIX_BYTES + clearBytes + countBase64urlLetters(sealedBytes) - '{}'.length;
  }

  function decode(blob: Uint8Array): Packet {
    const { meta, body } = parseCipher(blob);
    const sender = members.ofDid(meta.sender_did);
    const to = members.nodeOfTarget(meta.target.did);
    const received = receivingFrom(sender, meta.target.did);
    if (body.session_id !== received.id) {
      throw createPacketError(
        'anp.direct.e2ee.session_not_found (4005): another session than sender and addressee have',
      );
    }
    const aad = encodeAssociatedData(meta, body.session_id, body.ratchet_header);
    const plaintext = received.open(body.ratchet_header, aad, body.ciphertext_b64u, opened.has(blob));
    opened.add(blob);
    return restorePacket(meta, plaintext, sender.node, to);
  }

  return { encode, decode, headerSize };
}

function extractPublicKeys({ staticKey, signedPrekey, oneTimePrekey, ratchet }: DeviceKeys): DeviceKeys {
  return {
    staticKey: createPublicKey(staticKey),
    signedPrekey: createPublicKey(signedPrekey),
    oneTimePrekey: oneTimePrekey && createPublicKey(oneTimePrekey),
    ratchet: createPublicKey(ratchet),
  };
}

const ephemeralSchema = z.string().regex(/^[\w-]{43}$/);

function parseEphemeralKey({ node, offer }: Peer): KeyObject {
  const text = ephemeralSchema.safeParse(offer.sender_ephemeral_pub_b64u).data ?? '';
  const bytes = decodeBase64(text, 'base64url');
  if (bytes?.length !== KEY_BYTES) {
    throw createPacketError(`${node} offered no ephemeral key (32 bytes in base64url)`);
  }
  return importPublicKey('X25519', bytes);
}

function buildCipherMeta({ id }: Pick<Packet, 'id'>, senderDid: string, targetDid: string) {
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

function formatCipherMessage({ meta, body }: CipherMessage): string {
  return JSON.stringify(buildDirectSend({ meta, body }));
}

/** Encodes the data that is authenticated beside the plaintext: `AD_msg` of P5 §10.5. */
function encodeAssociatedData(meta: CipherMeta, sessionId: string, header: RatchetHeader): string {
  const { target, ...rest } = meta;
  return canonicalizeJson({
    ...rest,
    recipient_did: target.did,
    session_id: sessionId,
    ratchet_header: header,
  });
}

/** Formats the plaintext (P5 §10.4): every key of the envelope that is not in the clear. */
function formatPlaintext(packet: Packet): string {
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
function parseCipher(blob: Uint8Array): CipherMessage {
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
function restorePacket(meta: CipherMeta, plaintext: Buffer, from: string, to: string | undefined): Packet {
  return plaintextShape.read(parseJson(plaintext), (found) => {
    found.id = meta.message_id;
    found.from = from;
    if (to !== undefined) found.to = to;
  });
}
