import type { Codec, MemberIdentity, Membership, ProtocolAdapter } from '../core/adapter.ts';
import { MeshError } from '../core/errors.ts';
import { PREFIX_BYTES } from '../core/frame.ts';
import type { Packet } from '../core/packet.ts';
import { messageOf, packetOf, parseRequest, peekOf, textOf } from './anp/direct-message.ts';
import type { Identity } from './anp/identity.ts';
import { identityOf, Members, realSources, type Sources } from './anp/members.ts';
import { countingNonces, sequenceOf } from './anp/nonces.ts';
import { prove, unproven, verifiedNonce } from './anp/origin-proof.ts';
import { needsToJoin } from './layers/layer.ts';
import { ReplayGuard } from './layers/replay-guard.ts';

const NAME = 'anp';

export interface AnpSources extends Sources {
  /** Makes the nonces of one member: 16 letters of base64url, each higher than the one before. */
  nonces(): () => string;
}

/**
 * Agent Network Protocol 1.2: `direct.send` with the sender's origin proof. Every member makes a DID for the run and offers its
 * document. Deviations are in `docs/protocols.md`.
 */
export const anp: ProtocolAdapter = anpFrom({ ...realSources, nonces: countingNonces });

/** The adapter with its sources of keys, time and nonces. */
export function anpFrom(sources: AnpSources): ProtocolAdapter {
  return {
    name: NAME,
    open: () => {
      throw needsToJoin(NAME);
    },
    join: (member) => join(member, sources),
  };
}

function join(member: MemberIdentity, sources: AnpSources): Membership {
  const identity = identityOf(member, sources);
  const nextNonce = sources.nonces();
  return {
    offer: { did_document: identity.document },
    open: (session) => openCodec(member.self, identity, nextNonce, new Members(session, sources.everybody)),
  };
}

const PLACEHOLDER_NONCE = 'A'.repeat(16);

function openCodec(self: string, identity: Identity, nextNonce: () => string, members: Members): Codec {
  const guard = new ReplayGuard(NAME);

  const draftOf = (packet: Packet) => {
    if (packet.from !== self) {
      throw new MeshError('packet', `${self} cannot sign for ${packet.from}`);
    }
    return messageOf(packet, identity.did, members.didOfTarget(packet.to));
  };
  /** The proof is as old as the packet: a replay of a recording is byte for byte as long as the run was. */
  const createdSOf = ({ ts }: Packet) => Math.floor(ts / 1000);

  function encode(packet: Packet): Uint8Array {
    const message = draftOf(packet);
    const stamp = { createdS: createdSOf(packet), nonce: nextNonce() };
    return Buffer.from(textOf(message, prove(message, stamp, identity.signingKey)));
  }

  function headerSize(packet: Packet): number {
    const message = draftOf({ ...packet, payload: {} });
    const proof = unproven(message, { createdS: createdSOf(packet), nonce: PLACEHOLDER_NONCE });
    return PREFIX_BYTES + Buffer.byteLength(textOf(message, proof)) - '{}'.length;
  }

  function decode(blob: Uint8Array): Packet {
    const { message, proof } = parseRequest(blob);
    const sender = members.ofDid(message.meta.sender_did);
    const nonce = verifiedNonce(message, proof, sender.verifyingKey);
    const packet = packetOf(message, sender, members);
    // Only the bytes still show a key that came twice.
    peek(blob);
    const stamp = { sender: sender.node, sequence: sequenceOf(nonce), isVerified: true };
    guard.check(stamp, packet.from, blob);
    guard.remember(stamp, blob);
    return packet;
  }

  /** Without the proof, which takes longer to verify than all the rest: the hub forwards, receivers verify. */
  const peek = peekOf(members);

  return { encode, decode, headerSize, peek };
}
