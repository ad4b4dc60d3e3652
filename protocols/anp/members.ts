import { randomBytes } from 'node:crypto';
import type { AdapterSession, MemberIdentity } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { derived, KEY_BYTES, privateKeyOf } from '../layers/keys.ts';
import { notAPacket } from '../scan/scanner.ts';
import { didOf, type Identity, newIdentity, type PublicIdentity, provenIdentity } from './identity.ts';

/** Where the secrets and the time of an adapter come from. */
export interface Sources {
  /** 32 bytes for the member's key of that name; the same for the same member. */
  secretOf(member: MemberIdentity, keyName: string): Uint8Array;
  /** When a member's document was made; the same for the same member. */
  createdAt(member: MemberIdentity): Date;
  /** The DID that packets for everybody are addressed to. */
  everybody(runKey: Uint8Array): string;
}

export const realSources: Sources = {
  secretOf: ({ seed }, keyName) =>
    seed === undefined ? randomBytes(KEY_BYTES) : derived(seed, `anp ${keyName}`),
  createdAt: ({ seed }) => (seed === undefined ? new Date() : new Date(0)),
  everybody: (runKey) => didOf('all', privateKeyOf('Ed25519', derived(runKey, 'anp everybody'))),
};

export function identityOf(member: MemberIdentity, { secretOf, createdAt }: Sources): Identity {
  const created = `${createdAt(member).toISOString().slice(0, 19)}Z`;
  return newIdentity(member.self, (curve) => secretOf(member, curve), created);
}

/** A member of the run: its node and who it proved to be. */
export interface Member extends PublicIdentity {
  readonly node: string;
  /** An object with at least `did_document`. */
  readonly offer: JsonObject;
}

/** The members of a run by node and by DID; and everybody, who is addressed like one of them. */
export class Members {
  readonly everybody: string;
  readonly #byNode = new Map<string, Member>();
  readonly #byDid = new Map<string, Member>();

  /** @throws MeshError `handshake` for an offer that does not prove who made it */
  constructor({ offers, runKey }: AdapterSession, everybody: Sources['everybody']) {
    this.everybody = everybody(runKey);
    for (const [node, offer] of offers) {
      const member = memberOf(node, offer);
      this.#byNode.set(node, member);
      this.#byDid.set(member.did, member);
    }
  }

  /** @throws MeshError `packet` for a DID that is no member's */
  ofDid(did: string): Member {
    const member = this.#byDid.get(did);
    if (member === undefined) throw notAPacket(`${did.slice(0, 256)} is no member of this run`);
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
const proven = new WeakMap<object, Member>();

function memberOf(node: string, offer: JsonValue): Member {
  if (!isJsonObject(offer)) throw new MeshError('handshake', `${node} offered no DID document`);
  let member = proven.get(offer);
  if (member?.node !== node) {
    member = { ...provenIdentity(node, offer.did_document), node, offer };
    proven.set(offer, member);
  }
  return member;
}
