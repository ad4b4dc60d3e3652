import type { Codec, Membership, PeerIdentity, ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import {
  buildDirectMessage,
  buildDirectSend,
  checkRequestId,
  type DirectMessage,
} from './anp/direct-send.ts';
import type { Identity } from './anp/identity.ts';
import { createMemberIdentity, PeerTable, realSources, type Sources } from './anp/members.ts';
import {
  createNonceCounter,
  createUnsignedProof,
  type OriginProof,
  parseNonceSequence,
  prove,
  verifyNonce,
} from './anp/origin-proof.ts';
import { refuseOpen } from './layers/layer.ts';
import { ReplayGuard } from './layers/replay-guard.ts';
import { parseJson } from './scan/json.ts';
import { createHeaderSize } from './scan/scanner.ts';
import { ANY_TEXT, createLook, createShape, readText, readValue } from './scan/shape.ts';

const NAME = 'anp';

export interface AnpSources extends Sources {
  /** Creates the nonce generator of one member: 16 letters of base64url, each nonce higher than the one before. */
  nonces(): () => string;
  /**
   * Number of messages of one sender that may overtake each other; 0 where the connection keeps their order,
   * as the mesh does.
   */
  readonly reordered?: number;
}

/**
 * Agent Network Protocol 1.2: `direct.send` with the sender's origin proof. Every member makes a DID for the
 * run and offers its document. `docs/protocols.md` lists the deviations.
 */
export const anp: ProtocolAdapter = createAnpAdapter({ ...realSources, nonces: createNonceCounter });

/**
 * Maximum number of requests that may overtake each other on different connections; no client has more of
 * them under way.
 */
const MAX_REORDERED = 1024;

/** The adapter for transports that keep no order. */
export const anpUnordered: ProtocolAdapter = createAnpAdapter({
  ...realSources,
  nonces: createNonceCounter,
  reordered: MAX_REORDERED,
});

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
    open: (session) =>
      openCodec(
        member.self,
        identity,
        nextNonce,
        new PeerTable(session, sources.everybody),
        sources.reordered,
      ),
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

function openCodec(
  self: string,
  identity: Identity,
  nextNonce: () => string,
  members: PeerTable,
  reordered = 0,
): Codec {
  const guard = new ReplayGuard(NAME, reordered);

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
