import { randomBytes } from 'node:crypto';
import type { AdapterSession, PeerIdentity } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { deriveKey, importPrivateKey, KEY_BYTES } from '../layers/keys.ts';
import { createPacketError } from '../scan/scanner.ts';
import { createIdentity, formatDid, type Identity, type PublicIdentity, verifyIdentity } from './identity.ts';

/** Where the secrets and the time of an adapter come from. */
export interface Sources {
  /** 32 bytes for the member's key of that name; the same for the same member. */
  secretOf(member: PeerIdentity, keyName: string): Uint8Array;
  /** When a member's document was made; the same for the same member. */
  createdAt(member: PeerIdentity): Date;
  /** The DID that packets for everybody are addressed to. */
  everybody(runKey: Uint8Array): string;
}

export const realSources: Sources = {
  secretOf: ({ seed }, keyName) =>
    seed === undefined ? randomBytes(KEY_BYTES) : deriveKey(seed, `anp ${keyName}`),
  createdAt: ({ seed }) => (seed === undefined ? new Date() : new Date(0)),
  everybody: (runKey) => formatDid('all', importPrivateKey('Ed25519', deriveKey(runKey, 'anp everybody'))),
};

export function createMemberIdentity(member: PeerIdentity, { secretOf, createdAt }: Sources): Identity {
  const created = `${createdAt(member).toISOString().slice(0, 19)}Z`;
  return createIdentity(member.self, (curve) => secretOf(member, curve), created);
}

/** A member of the run: its node and who it proved to be. */
export interface Peer extends PublicIdentity {
  readonly node: string;
  /** An object with at least `did_document`. */
  readonly offer: JsonObject;
}

/** The members of a run by node and by DID; and everybody, who is addressed like one of them. */
export class PeerTable {
  readonly everybody: string;
  readonly #byNode = new Map<string, Peer>();
  readonly #byDid = new Map<string, Peer>();

  /** @throws MeshError `handshake` for an offer that does not prove who made it */
  constructor({ offers, runKey }: AdapterSession, everybody: Sources['everybody']) {
    this.everybody = everybody(runKey);
    for (const [node, offer] of offers) {
      const member = parseMember(node, offer);
      this.#byNode.set(node, member);
      this.#byDid.set(member.did, member);
    }
  }

  /** @throws MeshError `packet` for a DID that is no member's */
  ofDid(did: string): Peer {
    const member = this.#byDid.get(did);
    if (member === undefined) throw createPacketError(`${did.slice(0, 256)} is no member of this run`);
    return member;
  }

  /** Where a packet goes: @throws MeshError `packet` for a node without a DID document */
  didOfTarget(to: string | undefined): string {
    if (to === undefined) return this.everybody;
    const member = this.#byNode.get(to);
    if (member === undefined)
      throw new MeshError('packet', `no DID document of ${to}: no member of this run`);
    return member.did;
  }

  /** The DID of a packet's `from` or `to`; what is no member's stays as it is. */
  nameOf(node: string | undefined): string {
    return node === undefined ? this.everybody : (this.#byNode.get(node)?.did ?? node);
  }

  /** The node that a packet is for; undefined for everybody. */
  nodeOfTarget(did: string): string | undefined {
    return did === this.everybody ? undefined : this.ofDid(did).node;
  }
}

/** The hub opens a session for every member, each with the same offers. */
const proven = new WeakMap<object, Peer>();

function parseMember(node: string, offer: JsonValue): Peer {
  if (!isJsonObject(offer)) throw new MeshError('handshake', `${node} offered no DID document`);
  let member = proven.get(offer);
  if (member?.node !== node) {
    member = { ...verifyIdentity(node, offer.did_document), node, offer };
    proven.set(offer, member);
  }
  return member;
}
