import { createHash, type KeyObject, sign, verify } from 'node:crypto';
import * as z from 'zod';
import { canonicalizeJson, decodeMultibase, encodeMultibase } from './texts.ts';

/**
 * A proof inside of the object that it proves (P1 appendix B): W3C Data Integrity with `eddsa-jcs-2022`. What is signed is
 * SHA-256(JCS of the proof without its value) followed by SHA-256(JCS of the object without its proof).
 */
export const objectProofSchema = z.strictObject({
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

/** The object with its proof, `created` in RFC 3339. */
export function proveObject<T extends object>(
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

/** Whether the proof holds; who may prove what is the caller's question. */
export function verifyObjectProof(
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
