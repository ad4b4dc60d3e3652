import type {
  Codec,
  MemberIdentity,
  Membership,
  ProtocolAdapter,
} from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { checkRequestId, type DirectMessage, directMessage, directSend } from './anp/direct-send.ts';
import type { Identity } from './anp/identity.ts';
import { identityOf, Members, realSources, type Sources } from './anp/members.ts';
import {
  countingNonces,
  type OriginProof,
  prove,
  sequenceOf,
  unproven,
  verifiedNonce,
} from './anp/origin-proof.ts';
import { opensByJoin } from './layers/layer.ts';
import { ReplayGuard } from './layers/replay-guard.ts';
import { parseJson } from './scan/json.ts';
import { headerSizeOf } from './scan/scanner.ts';
import { ANY_TEXT, lookAt, shapeOf, textAt, valueAt } from './scan/shape.ts';

const NAME = 'anp';

export interface AnpSources extends Sources {
  /** Makes the nonces of one member: 16 letters of base64url, each higher than the one before. */
  nonces(): () => string;
  /** Messages of one sender that may pass each other; 0 where the connection keeps their order, as the mesh does. */
  readonly reordered?: number;
}

/**
 * Agent Network Protocol 1.2: `direct.send` with the sender's origin proof. Every member makes a DID for the run and offers its
 * document. Deviations are in `docs/protocols.md`.
 */
export const anp: ProtocolAdapter = anpFrom({ ...realSources, nonces: countingNonces });

/** Requests on different connections pass each other; no client has more of them under way. */
const MAX_REORDERED = 1024;

/** For transports that keep no order. */
export const anpUnordered: ProtocolAdapter = anpFrom({
  ...realSources,
  nonces: countingNonces,
  reordered: MAX_REORDERED,
});

/** The adapter with its sources of keys, time and nonces. */
export function anpFrom(sources: AnpSources): ProtocolAdapter {
  return {
    name: NAME,
    open: opensByJoin(NAME),
    join: (member) => join(member, sources),
  };
}

function join(member: MemberIdentity, sources: AnpSources): Membership {
  const identity = identityOf(member, sources);
  const nextNonce = sources.nonces();
  return {
    offer: { did_document: identity.document },
    open: (session) =>
      openCodec(member.self, identity, nextNonce, new Members(session, sources.everybody), sources.reordered),
  };
}

const PLACEHOLDER_NONCE = 'A'.repeat(16);

function requestOf(
  { meta, body }: DirectMessage,
  proof: { readonly [K in keyof OriginProof]: string | symbol },
) {
  const auth = { scheme: 'anp-rfc9421-origin-proof-v1', origin_proof: proof };
  return directSend({ meta, auth, body });
}

function openCodec(
  self: string,
  identity: Identity,
  nextNonce: () => string,
  members: Members,
  reordered = 0,
): Codec {
  const guard = new ReplayGuard(NAME, reordered);

  const draftOf = (packet: Packet) => {
    if (packet.from !== self) throw new MeshError('packet', `${self} cannot sign for ${packet.from}`);
    return directMessage(packet, identity.did, members.didOfTarget(packet.to));
  };
  /** The proof is as old as the packet: a replay of a recording is byte for byte as long as the run was. */
  const createdSOf = ({ ts }: Packet) => Math.floor(ts / 1000);

  function encode(packet: Packet): Uint8Array {
    const message = draftOf(packet);
    const stamp = { createdS: createdSOf(packet), nonce: nextNonce() };
    return Buffer.from(JSON.stringify(requestOf(message, prove(message, stamp, identity.signingKey))));
  }

  const headerSize = headerSizeOf((packet) => {
    const message = draftOf(packet);
    const proof = unproven(message, { createdS: createdSOf(packet), nonce: PLACEHOLDER_NONCE });
    return Buffer.from(JSON.stringify(requestOf(message, proof)));
  }, '{}'.length);

  const anyProof = { contentDigest: ANY_TEXT, signatureInput: ANY_TEXT, signature: ANY_TEXT };
  const messageFrom = (packet: Packet) =>
    directMessage(packet, members.nameOf(packet.from), members.nameOf(packet.to));
  const requestFrom = (packet: Packet) => requestOf(messageFrom(packet), anyProof);
  const request = shapeOf(requestFrom);
  // Verifying takes longer than all the rest: the hub forwards what it has peeked, receivers verify.
  const { peek, checkKeys } = lookAt(
    [requestFrom, (packet) => requestFrom({ ...packet, ts: Number.MAX_SAFE_INTEGER })],
    { from: (did) => members.ofDid(did).node, to: (did) => members.nodeOfTarget(did) },
  );

  function decode(blob: Uint8Array): Packet {
    const value = parseJson(blob);
    checkRequestId(value);
    const sender = members.ofDid(textAt(value, 'params', 'meta', 'sender_did'));
    const packet = request.read(value, (found) => {
      const created = valueAt(value, 'params', 'meta', 'created_at');
      found.from = sender.node;
      found.to = members.nodeOfTarget(textAt(value, 'params', 'meta', 'target', 'did'));
      if (found.to === undefined) delete found.to;
      found.ts =
        typeof created === 'string'
          ? Date.parse(created)
          : valueAt(value, 'params', 'body', 'annotations', 'ts');
    });
    const proofText = (name: keyof OriginProof) => textAt(value, 'params', 'auth', 'origin_proof', name);
    const proof = {
      contentDigest: proofText('contentDigest'),
      signatureInput: proofText('signatureInput'),
      signature: proofText('signature'),
    };
    const nonce = verifiedNonce(messageFrom(packet), proof, sender.verifyingKey);
    // Only the bytes still show a key that came twice.
    checkKeys(blob);
    const stamp = { sender: sender.node, sequence: sequenceOf(nonce), isVerified: true };
    guard.check(stamp, packet.from, blob);
    guard.remember(stamp, blob);
    return packet;
  }

  return { encode, decode, headerSize, peek };
}
