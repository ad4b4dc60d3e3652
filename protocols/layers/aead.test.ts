import { createSecretKey } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import * as z from 'zod';
import { sharedJson } from '../testing/shared-file.ts';
import { createAeadLayer, openBox, sealBox } from './aead.ts';

type Aead = Parameters<typeof createAeadLayer>[0];

const hex = (text: string) => Buffer.from(text, 'hex');
const keyOf = (text: string) => createSecretKey(hex(text));

describe('published vectors', () => {
  const sunscreen =
    "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
  const vectors: [string, Aead, Record<'key' | 'nonce' | 'aad' | 'plain' | 'encrypted' | 'tag', string>][] = [
    [
      'RFC 8439, 2.8.2',
      'chacha20-poly1305',
      {
        key: '808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f',
        nonce: '070000004041424344454647',
        aad: '50515253c0c1c2c3c4c5c6c7',
        plain: Buffer.from(sunscreen).toString('hex'),
        encrypted:
          'd31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc3ff4def08e4b7a9de576d26586cec64b6116',
        tag: '1ae10b594f09e26a7e902ecbd0600691',
      },
    ],
    [
      'GCM specification, test case 13',
      'aes-256-gcm',
      {
        key: '0'.repeat(64),
        nonce: '0'.repeat(24),
        aad: '',
        plain: '',
        encrypted: '',
        tag: '530f8afbc74536b9a963b4f1c4cb738b',
      },
    ],
    [
      'GCM specification, test case 14',
      'aes-256-gcm',
      {
        key: '0'.repeat(64),
        nonce: '0'.repeat(24),
        aad: '',
        plain: '0'.repeat(32),
        encrypted: 'cea7403d4d606b6e074ec5d3baf39d18',
        tag: 'd0d1c8a799996bf0265b98b5d48ab919',
      },
    ],
  ];

  test.each(vectors)('%s', (_, aead, { key, nonce, aad, plain, encrypted, tag }) => {
    const box = sealBox(aead, keyOf(key), hex(nonce), hex(aad), hex(plain));

    expect(box.toString('hex')).toBe(nonce + encrypted + tag);
    expect(openBox(aead, keyOf(key), hex(aad), box).toString('hex')).toBe(plain);
  });

  const schema = z.object({
    tests: z
      .array(
        z.object({
          tcId: z.int(),
          key: z.string(),
          iv: z.string(),
          aad: z.string(),
          msg: z.string(),
          ct: z.string(),
          tag: z.string(),
          result: z.enum(['valid', 'invalid']),
        }),
      )
      .min(50),
  });
  for (const [aead, file] of [
    ['aes-256-gcm', 'wycheproof-aes256-gcm'],
    ['chacha20-poly1305', 'wycheproof-chacha20-poly1305'],
  ] as const) {
    const shared = sharedJson(`crypto/${file}.json`);

    it.skipIf(shared === undefined)(`${aead}: the verdicts of Wycheproof`, () => {
      for (const { tcId, key, iv, aad, msg, ct, tag, result } of schema.parse(shared).tests) {
        const box = hex(iv + ct + tag);
        const open = () => openBox(aead, keyOf(key), hex(aad), box).toString('hex');
        if (result === 'valid') {
          expect([tcId, open()]).toEqual([tcId, msg]);
          expect(sealBox(aead, keyOf(key), hex(iv), hex(aad), hex(msg))).toEqual(box);
        } else {
          expect(open, `test ${tcId}`).toThrow();
        }
      }
    });
  }
});

describe.each([createAeadLayer('aes-256-gcm'), createAeadLayer('chacha20-poly1305')])('$name', (layer) => {
  const runKey = new Uint8Array(32).fill(5);
  const refused = expect.objectContaining({ code: 'packet' });

  /** Opens a run of two members: `a` writes, `b` reads. */
  function run(changes: { runKey?: Uint8Array; runId?: string; seed?: Uint8Array } = {}) {
    const { runId = 'test', seed } = changes;
    const join = (self: string) => layer.join?.({ runId, self, ...(seed && { seed }) });
    const members = { a: join('a'), b: join('b') };
    const offers = new Map(Object.entries(members).map(([node, member]) => [node, member?.offer ?? null]));
    const open = (node: 'a' | 'b', key = changes.runKey ?? runKey) => {
      const session = { runId, self: node, peer: 'hub', linkKey: key, runKey: key, offers };
      return members[node]?.open(session) ?? layer.open(session);
    };
    return { writer: open('a'), reader: open('b'), open, offers };
  }

  it('adds 28 bytes, and shows nothing of what it carries', () => {
    const { writer, reader } = run();
    const bytes = Buffer.from('a secret text');
    const sealed = Buffer.from(writer.seal(bytes));

    expect(sealed.length).toBe(bytes.length + 28);
    expect(sealed.includes('secret')).toBe(false);
    expect(reader.unseal(sealed)).toEqual({
      bytes,
      stamp: { sender: 'a', sequence: expect.any(Number), isVerified: true },
    });
  });

  it('never uses a nonce twice, over all connections of a member', () => {
    const { open } = run();
    const codecs = [open('a'), open('a'), open('a')];
    const nonces = Array.from({ length: 300 }, (_, i) =>
      Buffer.from(codecs[i % 3]?.seal(Buffer.alloc(1)) ?? [])
        .subarray(0, 12)
        .toString('hex'),
    );

    expect(new Set(nonces).size).toBe(300);
  });

  it('gives each member a key of its own', () => {
    const { open, offers } = run();
    const fromA = Buffer.from(open('a').seal(Buffer.from('text')));
    const idOfB = hex(String(offers.get('b'))).subarray(0, 4);

    expect(() => open('b').unseal(Buffer.concat([idOfB, fromA.subarray(4)]))).toThrow(refused);
  });

  it.each([
    ['another secret', () => run({ runKey: new Uint8Array(32).fill(6), seed: runKey })],
    ['another run', () => run({ runId: 'another', seed: runKey })],
    ['other members', () => run()],
  ])('refuses what was encrypted in %s', (_, other) => {
    const sealed = other().writer.seal(Buffer.from('text'));

    expect(() => run({ seed: runKey }).reader.unseal(sealed)).toThrow(refused);
  });

  // A shorter GCM tag is the beginning of the whole one, and Node takes one of 4 bytes unless an option
  // forbids it.
  it.each([0, 4, 8, 12, 13, 14, 15])('refuses a tag of %i bytes', (tagBytes) => {
    const { writer, reader } = run();
    const sealed = writer.seal(Buffer.from('a text of more than sixteen bytes'));

    expect(() => reader.unseal(sealed.subarray(0, sealed.length - 16 + tagBytes))).toThrow(refused);
  });

  it.each([undefined, null, 7, '', 'ab', 'x'.repeat(32)])(
    'refuses the offer %j, naming who made it',
    (offer) => {
      const { offers } = run();
      const bad = new Map([...offers, ['mallory', offer ?? null] as const]);
      const session = { runId: 'test', self: 'a', peer: 'hub', linkKey: runKey, runKey, offers: bad };

      expect(() => layer.join?.({ runId: 'test', self: 'a' }).open(session)).toThrow(
        expect.objectContaining({ code: 'handshake', message: expect.stringContaining('mallory') }),
      );
    },
  );

  it('cannot be opened without what the members offered', () => {
    const session = { runId: 'r', self: 'a', peer: 'b', linkKey: runKey, runKey, offers: new Map() };

    expect(() => layer.open(session)).toThrow(expect.objectContaining({ code: 'handshake' }));
  });
});
