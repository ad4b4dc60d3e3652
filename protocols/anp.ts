import { createHash, type KeyObject, randomInt, sign, verify } from 'node:crypto';
import type { Codec, Membership, PeerIdentity, ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { buildDirectContent, buildDirectSend, checkRequestId } from './anp/direct-send.ts';
import {
  createMemberIdentity,
  type Identity,
  PeerTable,
  realSources,
  type Sources,
  toSigningKeyId,
} from './anp/members.ts';
import { canonicalizeJson, decodeBase64 } from './anp/texts.ts';
import { ReplayGuard, refuseOpen } from './layers/layer.ts';
import { SequenceNumbers, STAMP_BYTES } from './layers/stamp.ts';
import { parseJson } from './scan/json.ts';
import { createHeaderSize, createPacketError } from './scan/scanner.ts';
import { ANY_TEXT, createLook, createShape, readText, readValue } from './scan/shape.ts';

/**
 * The proof of a request's sender (P1 appendix A): an HTTP message signature (RFC 9421) over three components
 * taken from the request itself: its method, the URI of its target, and the SHA-256 of the signed request
 * object's JCS.
 */
interface OriginProof {
  readonly contentDigest: string;
  readonly signatureInput: string;
  readonly signature: string;
}

/** The proven part of a request, without `jsonrpc`, `id` and `auth` (P1 A.3). */
interface SignedRequest {
  readonly method: string;
  readonly meta: {
    readonly sender_did: string;
    readonly target: { readonly kind: string; readonly did: string };
  };
  readonly body: object;
}

/** Creation time of a proof, in seconds since 1970, and its nonce. */
interface ProofStamp {
  readonly createdS: number;
  readonly nonce: string;
}

const COMPONENTS = '("@method" "@target-uri" "content-digest")';
const LIFETIME_S = 60;
const DIGEST_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** The parameters in one fixed order, in which all reference implementations write them. */
const SIGNATURE_INPUT =
  /^sig1=(\("@method" "@target-uri" "content-digest"\);created=(0|[1-9]\d{0,14});expires=(0|[1-9]\d{0,14});nonce="([\w-]{1,64})";keyid="([^"\\]{1,300})")$/;

const NAME = 'anp';

interface AnpSources extends Sources {
  /** Creates the nonce generator of one member: 16 letters of base64url, each nonce higher than the one before. */
  nonces(): () => string;
}

/**
 * Agent Network Protocol 1.2: `direct.send` with the sender's origin proof. Every member makes a DID for the
 * run and offers its document. `docs/protocols.md` lists the deviations.
 */
export const anp: ProtocolAdapter = createAnpAdapter({ ...realSources, nonces: createNonceCounter });

/** Creates the adapter with its sources of keys, time and nonces. */
export function createAnpAdapter(sources: AnpSources): ProtocolAdapter {
  return {
    name: NAME,
    open: refuseOpen(NAME),
    join: (member) => join(member, sources),
  };
}

function join(member: PeerIdentity, sources: AnpSources): Membership {
  const identity = createMemberIdentity(member, sources);
  const nextNonce = sources.nonces();
  return {
    offer: { did_document: identity.document },
    open: (session) => openCodec(member.self, identity, nextNonce, new PeerTable(session, sources.everybody)),
  };
}

/** The last instant that RFC 3339 can write: its years have four digits. */
const MAX_RFC3339_MS = Date.parse('9999-12-31T23:59:59.999Z');

type DirectMessage = ReturnType<typeof buildDirectMessage>;

/** Builds the signed part of a request without encryption (P1 A.3). */
function buildDirectMessage(packet: Packet, senderDid: string, targetDid: string) {
  const { id, ts } = packet;
  const hasDate = Number.isSafeInteger(ts) && ts >= 0 && ts <= MAX_RFC3339_MS;
  return {
    method: 'direct.send',
    meta: {
      profile: 'anp.direct.base.v1',
      security_profile: 'transport-protected',
      sender_did: senderDid,
      target: { kind: 'agent', did: targetDid },
      operation_id: id,
      message_id: id,
      created_at: hasDate ? new Date(ts).toISOString() : undefined,
      content_type: 'application/json',
    },
    body: buildDirectContent(packet, hasDate ? undefined : ts),
  };
}

const PLACEHOLDER_NONCE = 'A'.repeat(16);

function buildSignedRequest(
  { meta, body }: DirectMessage,
  proof: { readonly [K in keyof OriginProof]: string | symbol },
) {
  const auth = { scheme: 'anp-rfc9421-origin-proof-v1', origin_proof: proof };
  return buildDirectSend({ meta, auth, body });
}

function openCodec(self: string, identity: Identity, nextNonce: () => string, members: PeerTable): Codec {
  const guard = new ReplayGuard(NAME);

  const draftOf = (packet: Packet) => {
    if (packet.from !== self) throw new MeshError('packet', `${self} cannot sign for ${packet.from}`);
    return buildDirectMessage(packet, identity.did, members.didOfTarget(packet.to));
  };
  /** A proof is as old as its packet, so that the replay of a recording is byte for byte as long as the run was. */
  const createdSOf = ({ ts }: Packet) => Math.floor(ts / 1000);

  function encode(packet: Packet): Uint8Array {
    const message = draftOf(packet);
    const stamp = { createdS: createdSOf(packet), nonce: nextNonce() };
    return Buffer.from(
      JSON.stringify(buildSignedRequest(message, prove(message, stamp, identity.signingKey))),
    );
  }

  const headerSize = createHeaderSize((packet) => {
    const message = draftOf(packet);
    const proof = createUnsignedProof(message, { createdS: createdSOf(packet), nonce: PLACEHOLDER_NONCE });
    return Buffer.from(JSON.stringify(buildSignedRequest(message, proof)));
  }, '{}'.length);

  const anyProof = { contentDigest: ANY_TEXT, signatureInput: ANY_TEXT, signature: ANY_TEXT };
  const messageFrom = (packet: Packet) =>
    buildDirectMessage(packet, members.nameOf(packet.from), members.nameOf(packet.to));
  const requestFrom = (packet: Packet) => buildSignedRequest(messageFrom(packet), anyProof);
  const request = createShape(requestFrom);
  // Verifying takes longer than everything else, so the hub forwards what it has peeked, and receivers
  // verify.
  const { peek, checkKeys } = createLook(
    [requestFrom, (packet) => requestFrom({ ...packet, ts: Number.MAX_SAFE_INTEGER })],
    { from: (did) => members.ofDid(did).node, to: (did) => members.nodeOfTarget(did) },
  );

  function decode(blob: Uint8Array): Packet {
    const value = parseJson(blob);
    checkRequestId(value);
    const sender = members.ofDid(readText(value, 'params', 'meta', 'sender_did'));
    const packet = request.read(value, (found) => {
      const created = readValue(value, 'params', 'meta', 'created_at');
      found.from = sender.node;
      found.to = members.nodeOfTarget(readText(value, 'params', 'meta', 'target', 'did'));
      if (found.to === undefined) delete found.to;
      found.ts =
        typeof created === 'string'
          ? Date.parse(created)
          : readValue(value, 'params', 'body', 'annotations', 'ts');
    });
    const proofText = (name: keyof OriginProof) => readText(value, 'params', 'auth', 'origin_proof', name);
    const proof = {
      contentDigest: proofText('contentDigest'),
      signatureInput: proofText('signatureInput'),
      signature: proofText('signature'),
    };
    const nonce = verifyNonce(messageFrom(packet), proof, sender.verifyingKey);
    // Only the bytes still show a key that stands there twice.
    checkKeys(blob);
    const stamp = { sender: sender.node, sequence: parseNonceSequence(nonce), isVerified: true };
    guard.check(stamp, packet.from, blob);
    guard.remember(stamp, blob);
    return packet;
  }

  return { encode, decode, headerSize, peek };
}

function prove(request: SignedRequest, stamp: ProofStamp, key: KeyObject): OriginProof {
  const contentDigest = hashRequest(request);
  const params = formatParams(request, stamp);
  const signature = sign(null, buildSignatureBase(request, contentDigest, params), key);
  return buildProof(contentDigest, params, signature);
}

/** Creates a proof as long as the one that {@link prove} makes, without signing. */
function createUnsignedProof(request: SignedRequest, stamp: ProofStamp): OriginProof {
  return buildProof(
    formatDigestField(Buffer.alloc(DIGEST_BYTES)),
    formatParams(request, stamp),
    Buffer.alloc(SIGNATURE_BYTES),
  );
}

/**
 * Verifies a proof and returns its nonce.
 *
 * @throws MeshError `packet` with the error code of P3 §11 for a proof that does not hold
 */
function verifyNonce(request: SignedRequest, proof: OriginProof, key: KeyObject): string {
  const input = SIGNATURE_INPUT.exec(proof.signatureInput);
  if (input === null) throw createProofError('signatureInput does not have the form that P1 A.2 prescribes');
  const [, params = '', created = '', expires = '', nonce = '', keyId = ''] = input;
  const did = request.meta.sender_did;
  if (!keyId.startsWith(`${did}#`)) {
    throw createPacketError(`direct.origin_did_mismatch (2006): signed by ${keyId}, sent by ${did}`);
  }
  if (keyId !== toSigningKeyId(did)) throw createProofError(`${keyId} is no key for authentication`);
  if (Number(expires) <= Number(created)) throw createProofError('it expires before it was created');
  const contentDigest = hashRequest(request);
  if (proof.contentDigest !== contentDigest) throw createProofError('the digest does not match the content');
  const signature = parseFieldBytes(proof.signature, 'sig1=:', ':');
  if (signature?.length !== SIGNATURE_BYTES)
    throw createProofError('the signature is not 64 bytes in base64');
  if (!verify(null, buildSignatureBase(request, contentDigest, params), key, signature)) {
    throw createProofError('the signature does not match');
  }
  return nonce;
}

/** Builds the text that is signed (RFC 9421 §2.5). */
function buildSignatureBase(
  { method, meta }: Pick<SignedRequest, 'method' | 'meta'>,
  contentDigest: string,
  params: string,
): Buffer {
  return Buffer.from(
    [
      `"@method": ${method}`,
      `"@target-uri": anp://${meta.target.kind}/${encodeURIComponent(meta.target.did)}`,
      `"content-digest": ${contentDigest}`,
      `"@signature-params": ${params}`,
    ].join('\n'),
  );
}

function hashRequest({ method, meta, body }: SignedRequest): string {
  return formatDigestField(createHash('sha256').update(canonicalizeJson({ method, meta, body })).digest());
}

/** Formats the field `Content-Digest` of RFC 9530. */
function formatDigestField(digest: Buffer): string {
  return `sha-256=:${digest.toString('base64')}:`;
}

function formatParams({ meta }: SignedRequest, { createdS, nonce }: ProofStamp): string {
  const keyId = toSigningKeyId(meta.sender_did);
  return `${COMPONENTS};created=${createdS};expires=${createdS + LIFETIME_S};nonce="${nonce}";keyid="${keyId}"`;
}

function buildProof(contentDigest: string, params: string, signature: Buffer): OriginProof {
  return {
    contentDigest,
    signatureInput: `sig1=${params}`,
    signature: `sig1=:${signature.toString('base64')}:`,
  };
}

function parseFieldBytes(field: string, before: string, after: string): Buffer | undefined {
  if (!field.startsWith(before) || !field.endsWith(after)) return undefined;
  return decodeBase64(field.slice(before.length, -after.length), 'base64');
}

function createProofError(reason: string) {
  return createPacketError(`direct.invalid_origin_proof (2005): ${reason}`);
}

/**
 * Creates a generator of nonces of 12 bytes: 4 random ones and 8 that count up. ANP asks that a nonce is
 * never used again. Because they count up and the mesh keeps a sender's order, receivers need no list of past
 * nonces.
 */
function createNonceCounter(): () => string {
  const numbers = new SequenceNumbers();
  const prefix = randomInt(2 ** 32);
  return () => {
    const nonce = Buffer.alloc(STAMP_BYTES);
    numbers.stamp(nonce, prefix);
    return nonce.toString('base64url');
  };
}

/**
 * Returns the number that counts up in a nonce. @throws MeshError `packet` for a nonce that is not 12 bytes
 * in base64url
 */
function parseNonceSequence(nonce: string): number {
  const bytes = decodeBase64(nonce, 'base64url');
  if (bytes?.length !== STAMP_BYTES) throw createPacketError('the nonce is not 12 bytes in base64url');
  // Above 2^53 neighbours look alike and the later one is refused; a mesh that counts from the clock never
  // gets there.
  return Number(bytes.readBigUInt64BE(4));
}
