import { createHash, type KeyObject, randomInt, sign, verify } from 'node:crypto';
import { SequenceNumbers, STAMP_BYTES, writeStamp } from '../layers/stamp.ts';
import { createPacketError } from '../scan/scanner.ts';
import { toSigningKeyId } from './identity.ts';
import { canonicalizeJson, decodeBase64 } from './texts.ts';

/**
 * The proof of a request's sender (P1 appendix A): an HTTP message signature (RFC 9421) over three components
 * taken from the request itself: its method, the URI of its target, and the SHA-256 of the signed request
 * object's JCS.
 */
export interface OriginProof {
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

export function prove(request: SignedRequest, stamp: ProofStamp, key: KeyObject): OriginProof {
  const contentDigest = hashRequest(request);
  const params = formatParams(request, stamp);
  const signature = sign(null, buildSignatureBase(request, contentDigest, params), key);
  return buildProof(contentDigest, params, signature);
}

/** Creates a proof as long as the one that {@link prove} makes, without signing. */
export function createUnsignedProof(request: SignedRequest, stamp: ProofStamp): OriginProof {
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
export function verifyNonce(request: SignedRequest, proof: OriginProof, key: KeyObject): string {
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
export function buildSignatureBase(
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
export function createNonceCounter(): () => string {
  const numbers = new SequenceNumbers();
  const prefix = randomInt(2 ** 32);
  return () => {
    const nonce = Buffer.alloc(STAMP_BYTES);
    writeStamp(nonce, prefix, numbers.next());
    return nonce.toString('base64url');
  };
}

/**
 * Returns the number that counts up in a nonce. @throws MeshError `packet` for a nonce that is not 12 bytes
 * in base64url
 */
export function parseNonceSequence(nonce: string): number {
  const bytes = decodeBase64(nonce, 'base64url');
  if (bytes?.length !== STAMP_BYTES) throw createPacketError('the nonce is not 12 bytes in base64url');
  // Above 2^53 neighbours look alike and the later one is refused; a mesh that counts from the clock never
  // gets there.
  return Number(bytes.readBigUInt64BE(4));
}
