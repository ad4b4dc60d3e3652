import { sign, verify } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import * as z from 'zod';
import { sharedJson } from '../testing/shared-file.ts';
import { ed25519 } from './ed25519.ts';
import { exportPublicKey, importPrivateKey, importPublicKey } from './keys.ts';

const hex = (text: string) => Buffer.from(text, 'hex');

describe('published vectors', () => {
  // RFC 8032, 7.1: private key, public key, message, signature.
  test.each([
    [
      'test 1',
      '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      '',
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    ],
    [
      'test 2',
      '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
      '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      '72',
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    ],
    [
      'test 3',
      'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
      'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
      'af82',
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
    ],
  ])('RFC 8032, %s', (_, secret, publicKey, message, signature) => {
    const key = importPrivateKey('Ed25519', hex(secret));

    expect(exportPublicKey(key).toString('hex')).toBe(publicKey);
    expect(sign(null, hex(message), key).toString('hex')).toBe(signature);
    expect(verify(null, hex(message), importPublicKey('Ed25519', hex(publicKey)), hex(signature))).toBe(true);
  });

  const shared = sharedJson('crypto/wycheproof-ed25519.json');
  it.skipIf(shared === undefined)('the verdicts of Wycheproof', () => {
    const schema = z.object({
      tests: z
        .array(
          z.object({
            tcId: z.int(),
            pk: z.string(),
            msg: z.string(),
            sig: z.string(),
            result: z.enum(['valid', 'invalid']),
          }),
        )
        .min(100),
    });
    for (const { tcId, pk, msg, sig, result } of schema.parse(shared).tests) {
      const verdict = verify(null, hex(msg), importPublicKey('Ed25519', hex(pk)), hex(sig))
        ? 'valid'
        : 'invalid';
      expect([tcId, verdict]).toEqual([tcId, result]);
    }
  });
});

describe('ed25519', () => {
  const key = new Uint8Array(32);
  const refused = expect.objectContaining({ code: 'packet' });
  const bytes = Buffer.from('what is signed');

  function run(runId = 'test', seed?: Uint8Array) {
    const members = new Map(
      ['a', 'b'].map((self) => [self, ed25519.join?.({ runId, self, ...(seed && { seed }) })] as const),
    );
    const offers = new Map([...members].map(([node, member]) => [node, member?.offer ?? null]));
    const open = (self: string) => {
      const session = { runId, self, peer: 'hub', linkKey: key, runKey: key, offers };
      return members.get(self)?.open(session) ?? ed25519.open(session);
    };
    return { a: open('a'), b: open('b'), offers };
  }

  it('adds 76 bytes, and says who has signed', () => {
    const { a, b } = run();
    const sealed = a.seal(bytes);
    const stamp = { sender: 'a', sequence: expect.any(Number) };

    expect(sealed.length).toBe(bytes.length + 76);
    expect(b.unseal(sealed)).toEqual({ bytes, stamp: { ...stamp, isVerified: true } });
    expect(b.skim?.(sealed)).toEqual({ bytes, stamp: { ...stamp, isVerified: false } });
  });

  it('makes other keys for every run, and the same ones from the same seed', () => {
    const seed = new Uint8Array(32).fill(1);

    expect(run().offers).not.toEqual(run().offers);
    expect(run('test', seed).offers).toEqual(run('test', seed).offers);
  });

  it('refuses what another signed, however it is labelled', () => {
    const { a, b, offers } = run();
    const sealed = Buffer.from(a.seal(bytes));
    hex(String(offers.get('b'))).copy(sealed, 0, 0, 4);

    expect(() => b.unseal(sealed)).toThrow(
      expect.objectContaining({ message: expect.stringContaining('b has not') }),
    );
  });

  it('refuses what the same member signed in another run', () => {
    const seed = new Uint8Array(32).fill(1);

    expect(() => run('this', seed).b.unseal(run('that', seed).a.seal(bytes))).toThrow(refused);
  });

  it.each([null, 7, '', 'ab', 'x'.repeat(64)])('refuses the offer %j, naming who made it', (offer) => {
    const offers = new Map([...run().offers, ['mallory', offer] as const]);
    const session = { runId: 'test', self: 'a', peer: 'hub', linkKey: key, runKey: key, offers };

    expect(() => ed25519.join?.({ runId: 'test', self: 'a' }).open(session)).toThrow(
      expect.objectContaining({ code: 'handshake', message: expect.stringContaining('mallory') }),
    );
  });

  it('refuses a member that offers another’s key', () => {
    const { offers } = run();
    const twice = new Map([...offers, ['mallory', offers.get('a') ?? null] as const]);
    const session = { runId: 'test', self: 'b', peer: 'hub', linkKey: key, runKey: key, offers: twice };

    expect(() => ed25519.join?.({ runId: 'test', self: 'b' }).open(session)).toThrow(
      expect.objectContaining({ code: 'handshake' }),
    );
  });

  it('cannot be opened without what the members offered', () => {
    const session = { runId: 'r', self: 'a', peer: 'b', linkKey: key, runKey: key, offers: new Map() };

    expect(() => ed25519.open(session)).toThrow(expect.objectContaining({ code: 'handshake' }));
  });
});
