import { randomBytes } from 'node:crypto';
import type { AdapterSession, PeerIdentity } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { deriveKey, importPrivateKey, KEY_BYTES } from '../layers/keys.ts';
import { createPacketError } from '../scan/scanner.ts';
import { createIdentity, formatDid, type Identity, type PublicIdentity, verifyIdentity } from './identity.ts';

/** Sources of an adapter's secrets and time. */
export interface Sources {
  /** Returns 32 bytes for the member's key of that name, always the same for the same member. */
  secretOf(member: PeerIdentity, keyName: string): Uint8Array;
  /** Returns the time at which a member's document was made, always the same for the same member. */
  createdAt(member: PeerIdentity): Date;
  /** Returns the DID to which broadcasts are addressed. */
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

/** A member of the run: its node and its proven identity. */
export interface Peer extends PublicIdentity {
  readonly node: string;
  /** An object with at least `did_document`. */
  readonly offer: JsonObject;
}

/** The members of a run by node and by DID, and the DID to which broadcasts are addressed. */
export class PeerTable {
  readonly everybody: string;
  readonly #byNode = new Map<string, Peer>();
  readonly #byDid = new Map<string, Peer>();

  /** @throws MeshError `handshake` for an offer that does not prove its author */
  constructor({ offers, runKey }: AdapterSession, everybody: Sources['everybody']) {
    this.everybody = everybody(runKey);
    for (const [node, offer] of offers) {
      const member = parseMember(node, offer);
      this.#byNode.set(node, member);
      this.#byDid.set(member.did, member);
    }
  }

  /** @throws MeshError `packet` for a DID that belongs to no member */
  ofDid(did: string): Peer {
    const member = this.#byDid.get(did);
    if (member === undefined) throw createPacketError(`${did.slice(0, 256)} is no member of this run`);
    return member;
  }

  /** Returns the DID of a packet's addressee. @throws MeshError `packet` for a node without a DID document */
  didOfTarget(to: string | undefined): string {
    if (to === undefined) return this.everybody;
    const member = this.#byNode.get(to);
    if (member === undefined)
      throw new MeshError('packet', `no DID document of ${to}: no member of this run`);
    return member.did;
  }

  /** Returns the DID of a packet's `from` or `to`; a name that belongs to no member stays as it is. */
  nameOf(node: string | undefined): string {
    return node === undefined ? this.everybody : (this.#byNode.get(node)?.did ?? node);
  }

  /** Returns the node that a packet is for; undefined for a broadcast. */
  nodeOfTarget(did: string): string | undefined {
    return did === this.everybody ? undefined : this.ofDid(did).node;
  }
}

/** Verified members by offer: the hub opens a session for every member, each with the same offers. */
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
