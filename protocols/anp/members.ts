import { createHash, type KeyObject, randomBytes, sign, verify } from 'node:crypto';
import type { AdapterSession, PeerIdentity } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import {
  formatIssues,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import { deriveKey, exportPublicKey, importPrivateKey, importPublicKey, KEY_BYTES } from '../layers/keys.ts';
import { createPacketError } from '../scan/scanner.ts';
import { canonicalizeJson, decodeMultibase, encodeMultibase } from './texts.ts';

/**
 * A proof inside the object that it proves (P1 appendix B): W3C Data Integrity with `eddsa-jcs-2022`. The
 * signed bytes are SHA-256(JCS of the proof without its value) followed by SHA-256(JCS of the object without
 * its proof).
 */
const objectProofSchema = z.strictObject({
  type: z.literal('DataIntegrityProof'),
  cryptosuite: z.literal('eddsa-jcs-2022'),
  verificationMethod: z.string(),
  proofPurpose: z.literal('assertionMethod'),
  created: z.string(),
  proofValue: z.string(),
});

type ObjectProof = z.infer<typeof objectProofSchema>;
type ProofOptions = Omit<ObjectProof, 'proofValue'>;

const SIGNATURE_BYTES = 64;

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

/** Returns the object with its proof; `created` is in RFC 3339. */
function proveObject<T extends object>(
  object: T,
  privateKey: KeyObject,
  verificationMethod: string,
  created: string,
): T & { proof: ObjectProof } {
  const options: ProofOptions = {
    type: 'DataIntegrityProof',
    cryptosuite: 'eddsa-jcs-2022',
    verificationMethod,
    proofPurpose: 'assertionMethod',
    created,
  };
  const proofValue = encodeMultibase(sign(null, buildSignedBytes(object, options), privateKey));
  return { ...object, proof: { ...options, proofValue } };
}

/** Returns true if the proof holds; the caller decides who may prove what. */
function verifyObjectProof(
  { proof, ...object }: object & { readonly proof: ObjectProof },
  key: KeyObject,
): boolean {
  const { proofValue, ...options } = proof;
  const signature = decodeMultibase(proofValue, SIGNATURE_BYTES);
  return signature !== undefined && verify(null, buildSignedBytes(object, options), key, signature);
}

function buildSignedBytes(object: object, options: ProofOptions): Buffer {
  // The suite signs the options in the object's own JSON-LD context; the proof does not repeat it.
  const config = '@context' in object ? { ...options, '@context': object['@context'] } : options;
  return Buffer.concat([hashSha256(canonicalizeJson(config)), hashSha256(canonicalizeJson(object))]);
}

function hashSha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * Domain of the identities, which are `did:wba` of the kind `e1` (ANP-03 §2): the DID ends in the fingerprint
 * of its own Ed25519 key, so the document proves itself without any lookup. No resolver knows this domain;
 * documents come in the handshake.
 */
const DOMAIN = 'mesh.local';

const CONTEXT = [
  'https://www.w3.org/ns/did/v1',
  'https://w3id.org/security/data-integrity/v2',
  'https://w3id.org/security/multikey/v1',
  'https://w3id.org/security/suites/x25519-2019/v1',
];

/** Prefixes of public keys in Multikey form, by Multicodec. */
const MULTICODEC = { Ed25519: Buffer.of(0xed, 0x01), X25519: Buffer.of(0xec, 0x01) };

const publicKeySchema = z.strictObject({
  id: z.string(),
  type: z.string(),
  controller: z.string(),
  publicKeyMultibase: z.string(),
});

/** Schema of the documents that the mesh writes: one key that signs, one that agrees on secrets. */
const didDocumentSchema = z.strictObject({
  '@context': z.array(z.string()),
  id: z.string().max(256),
  verificationMethod: z.tuple([publicKeySchema, publicKeySchema]),
  authentication: z.tuple([z.string()]),
  assertionMethod: z.tuple([z.string()]),
  keyAgreement: z.tuple([z.string()]),
  service: z.array(z.strictObject({ id: z.string(), type: z.string(), serviceEndpoint: z.string() })),
  proof: objectProofSchema,
});

type DidDocument = z.infer<typeof didDocumentSchema>;

/** An identity with its private keys. */
export interface Identity {
  readonly did: string;
  readonly signingKey: KeyObject;
  readonly agreementKey: KeyObject;
  readonly document: DidDocument;
}

/** An identity as its document proves it. */
interface PublicIdentity {
  readonly did: string;
  readonly verifyingKey: KeyObject;
  readonly agreementKey: KeyObject;
}

/** Returns the id of an identity's signing key. */
export function toSigningKeyId(did: string): string {
  return `${did}#key-1`;
}

/** Creates an identity and its document. @param created time in RFC 3339 */
function createIdentity(
  name: string,
  secretOf: (curve: keyof typeof MULTICODEC) => Uint8Array,
  created: string,
): Identity {
  const signingKey = importPrivateKey('Ed25519', secretOf('Ed25519'));
  const agreementKey = importPrivateKey('X25519', secretOf('X25519'));
  const did = formatDid(name, signingKey);
  const keyId = toSigningKeyId(did);
  const agreementId = `${did}#ka-1`;
  const document = {
    '@context': CONTEXT,
    id: did,
    verificationMethod: [
      {
        id: keyId,
        type: 'Multikey',
        controller: did,
        publicKeyMultibase: encodeMultikey('Ed25519', signingKey),
      },
      {
        id: agreementId,
        type: 'X25519KeyAgreementKey2019',
        controller: did,
        publicKeyMultibase: encodeMultikey('X25519', agreementKey),
      },
    ] satisfies DidDocument['verificationMethod'],
    authentication: [keyId] satisfies [string],
    assertionMethod: [keyId] satisfies [string],
    keyAgreement: [agreementId] satisfies [string],
    service: [{ id: `${did}#msg`, type: 'ANPMessageService', serviceEndpoint: `https://${DOMAIN}/anp` }],
  };
  return { did, signingKey, agreementKey, document: proveObject(document, signingKey, keyId, created) };
}

/** Formats the DID of a name and a signing key, private or public. */
function formatDid(name: string, signingKey: KeyObject): string {
  const x = exportPublicKey(signingKey).toString('base64url');
  // The fingerprint is the thumbprint of RFC 7638.
  const fingerprint = createHash('sha256')
    .update(canonicalizeJson({ kty: 'OKP', crv: 'Ed25519', x }))
    .digest('base64url');
  return `did:wba:${DOMAIN}:agents:${name}:e1_${fingerprint}`;
}

/**
 * Checks that `document` is the DID document of the node `name`: the document's key has the fingerprint that
 * the DID ends in, signed the document, and is the one for authentication.
 *
 * @throws MeshError `handshake`
 */
function verifyIdentity(name: string, document: unknown): PublicIdentity {
  const refuse = (reason: string) => new MeshError('handshake', `DID document of ${name}: ${reason}`);
  const result = didDocumentSchema.safeParse(document);
  if (!result.success) throw refuse(formatIssues(result.error));
  const { id: did, verificationMethod, proof } = result.data;
  const [signing, agreement] = verificationMethod;
  const verifyingKey = decodeMultikey('Ed25519', signing.publicKeyMultibase);
  const agreementKey = decodeMultikey('X25519', agreement.publicKeyMultibase);
  if (verifyingKey === undefined) throw refuse('its first key is not Ed25519 as Multikey');
  if (agreementKey === undefined) throw refuse('its second key is not X25519 as Multikey');
  if (did !== formatDid(name, verifyingKey)) throw refuse(`its id ${did} is not the one of its name and key`);
  const keyId = toSigningKeyId(did);
  const usesOfSigning = [signing.id, ...result.data.authentication, ...result.data.assertionMethod];
  const usesOfAgreement = [agreement.id, ...result.data.keyAgreement];
  if (usesOfSigning.some((use) => use !== keyId) || usesOfAgreement.some((use) => use !== `${did}#ka-1`)) {
    throw refuse('its keys are not used as #key-1 and #ka-1');
  }
  if (proof.verificationMethod !== keyId || !verifyObjectProof(result.data, verifyingKey)) {
    throw refuse('its proof does not hold');
  }
  return { did, verifyingKey, agreementKey };
}

function encodeMultikey(curve: keyof typeof MULTICODEC, key: KeyObject): string {
  return encodeMultibase(Buffer.concat([MULTICODEC[curve], exportPublicKey(key)]));
}

function decodeMultikey(curve: keyof typeof MULTICODEC, text: string): KeyObject | undefined {
  const codec = MULTICODEC[curve];
  const bytes = decodeMultibase(text, codec.length + KEY_BYTES);
  if (bytes === undefined || !codec.equals(bytes.subarray(0, codec.length))) return undefined;
  return importPublicKey(curve, bytes.subarray(codec.length));
}
