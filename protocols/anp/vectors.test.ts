import { sign, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { exportPublicKey, importPrivateKey, importPublicKey } from '../layers/keys.ts';
import { sharedJson } from '../testing/shared-file.ts';
import { ReceivingSession } from './e2ee-session.ts';
import { canonicalizeJson, decodeBase64, decodeMultibase, encodeMultibase } from './texts.ts';

/** These tests read other people's vectors from their own files. */

const jcsFile = z.object({
  documents: z.array(z.object({ name: z.string(), input: z.string(), canonical_utf8_hex: z.string() })),
});
const agreementFile = z.object({
  x3dh: z.array(z.record(z.string(), z.string())),
});
const wireFile = z.looseObject({
  application_plaintext: z.unknown(),
  expected_application_plaintext_jcs: z.string(),
  application_plaintext_numeric: z.unknown(),
  expected_application_plaintext_numeric_jcs: z.string(),
  encoding_negative_values: z.record(z.string(), z.string()),
});
const ed25519File = z.array(z.record(z.string(), z.string()));

const jcsVectors = sharedJson('codec/jcs-rfc8785.json');
const agreement = sharedJson('anp/reference-p5-vectors.json');
const wire = sharedJson('anp/reference-p5-v2-wire-vectors.json');
const ed25519 = sharedJson('crypto/ed25519-rfc8032.json');

describe.skipIf(jcsVectors === undefined)('RFC 8785', () => {
  it('gives the one text of every document', () => {
    for (const { name, input, canonical_utf8_hex } of jcsFile.parse(jcsVectors).documents) {
      expect(Buffer.from(canonicalizeJson(JSON.parse(input))).toString('hex'), name).toBe(canonical_utf8_hex);
    }
  });
});

describe.skipIf(agreement === undefined)("ANP's own vectors of P5", () => {
  const vectors = agreement === undefined ? undefined : agreementFile.parse(agreement);
  const secret = (text = '') => importPrivateKey('X25519', Buffer.from(text, 'base64url'));

  it('agrees on the same keys', () => {
    for (const vector of vectors?.x3dh ?? []) {
      const opk = vector.recipient_one_time_prekey_private_b64u;
      const received = new ReceivingSession(
        {
          staticKey: publicOf(secret(vector.sender_static_private_b64u)),
          ephemeral: publicOf(secret(vector.sender_ephemeral_private_b64u)),
        },
        {
          staticKey: secret(vector.recipient_static_private_b64u),
          signedPrekey: secret(vector.recipient_signed_prekey_private_b64u),
          oneTimePrekey: opk === undefined ? undefined : secret(opk),
          ratchet: secret(vector.recipient_static_private_b64u),
        },
      );
      expect(received.id, vector.name).toBe(vector.session_id);
    }
  });
});

describe.skipIf(wire === undefined)("ANP's own wire vectors of P5 v2", () => {
  const vectors = wire === undefined ? undefined : wireFile.parse(wire);

  it('writes the same plaintexts', () => {
    if (vectors === undefined) return;
    expect(canonicalizeJson(vectors.application_plaintext)).toBe(vectors.expected_application_plaintext_jcs);
    expect(canonicalizeJson(vectors.application_plaintext_numeric)).toBe(
      vectors.expected_application_plaintext_numeric_jcs,
    );
  });

  it('refuses the same base64', () => {
    const { session_id, x25519_public_key, ciphertext_b64u } = vectors?.encoding_negative_values ?? {};
    for (const text of [session_id, x25519_public_key, ciphertext_b64u]) {
      expect(decodeBase64(text ?? '', 'base64url')).toBeUndefined();
    }
  });
});

describe.skipIf(ed25519 === undefined)('RFC 8032', () => {
  it('makes and takes the signatures', () => {
    for (const vector of ed25519File.parse(ed25519)) {
      const hex = (name: RegExp) => {
        const found = Object.entries(vector).find(([key]) => name.test(key));
        return Buffer.from(found?.[1] ?? '', 'hex');
      };
      const key = importPrivateKey('Ed25519', hex(/sec|seed|priv/));
      const [message, signature] = [hex(/^(msg|message)/), hex(/sig/)];
      expect(exportPublicKey(key)).toStrictEqual(hex(/pub/));
      expect(sign(null, message, key)).toStrictEqual(signature);
      expect(verify(null, message, importPublicKey('Ed25519', hex(/pub/)), signature)).toBe(true);
    }
  });
});

describe('multibase', () => {
  it.each([
    ['', 'z'],
    ['00', 'z1'],
    ['0000287fb4cd', 'z11233QC4'],
    ['48656c6c6f20576f726c6421', 'z2NEpo7TZRRrLZSi2U'],
  ])('writes %s as %s', (hex, text) => {
    const value = Buffer.from(hex, 'hex');
    expect(encodeMultibase(value)).toBe(text);
    if (hex !== '') expect(decodeMultibase(text, value.length)).toStrictEqual(value);
  });

  it.each([
    '',
    '2NEpo7TZRRrLZSi2U',
    'z2NEpo7TZRRrLZ',
    'z2NEpo7TZRRrLZSi2l',
    'z12NEpo7TZRRrLZSi2U',
    `z${'1'.repeat(1e6)}`,
  ])('refuses %.30s for 12 bytes', (text) => expect(decodeMultibase(text, 12)).toBeUndefined());
});

function publicOf(key: ReturnType<typeof importPrivateKey>) {
  return importPublicKey('X25519', exportPublicKey(key));
}
