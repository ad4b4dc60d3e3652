import type { KeyObject } from 'node:crypto';
import { measureLine } from '@gaia-mesh/core/contracts/ledger.ts';
import { type Packet, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import { describe, expect, it } from 'vitest';
import { anpE2ee, createAnpE2eeAdapter } from '../anp-e2ee.ts';
import { fullPacket } from '../contract/samples.ts';
import { applyLayers } from '../layers/apply-layers.ts';
import { createCompressionLayer } from '../layers/compression.ts';
import { importPrivateKey } from '../layers/keys.ts';
import session from '../testing/anp-e2ee-session.json' with { type: 'json' };
import { goldenIdentity, goldenNodes, goldenRows, goldenSources } from '../testing/anp-golden.ts';
import { TestRun } from '../testing/members.ts';
import { refused, testSession } from '../testing/session.ts';

const { keys } = session;

/** Maximum number of missing messages before a message (P5 §11.3). */
const MAX_SKIP = 1000;

/** One session of P5 v2 with all its keys, generated without this code; ANP's own SDK parsed and decrypted it. */
describe('golden P5 session', () => {
  const recipient = {
    staticKey: x25519(keys.recipient_x25519_priv_hex),
    signedPrekey: x25519(keys.spk_priv_hex),
    oneTimePrekey: x25519(keys.opk_priv_hex),
    ratchet: x25519(keys.ratchet_recipient_1_hex),
  };

  it('writes and reads the first cipher after it, byte for byte', () => {
    const run = new TestRun(goldenE2ee(recipient), goldenNodes);
    const { annotations, conversation_id, payload } = session.plaintexts.cipher2;
    const packet = parsePacket({
      ...annotations,
      from: 'planner',
      to: 'retriever',
      id: JSON.parse(session.cipher2).id,
      task_id: conversation_id,
      payload,
    });
    expect(Buffer.from(run.codec('planner').encode(packet)).toString()).toBe(session.cipher2);
    expect(run.codec('graph').decode(Buffer.from(session.cipher2))).toStrictEqual(packet);
  });
});

describe('golden ledger rows of anp-e2ee', () => {
  it.each(goldenRows)('$name', ({ packet, ledger }) => {
    const run = new TestRun(goldenE2ee(undefined, packet.to === undefined), goldenNodes);
    const codec = run.codec(packet.from);
    const blob = codec.encode(packet);
    expect(measureLine(codec, packet, blob.length)).toMatchObject(ledger['anp-e2ee'] ?? {});
    expect(run.codec('graph').decode(blob)).toStrictEqual(packet);
  });
});

describe('anp-e2ee', () => {
  const nodes = ['hub', 'extractor-1', 'writer', 'reader'];
  const { to: _, ...forAll } = fullPacket;
  const encoded = (run: TestRun, packet: Packet = fullPacket) =>
    Buffer.from(run.codec(packet.from).encode(packet));

  it('says what it needs when it is opened without its members', () => {
    expect(() => anpE2ee.open(testSession)).toThrow(/through join/);
  });

  it('shows ids and DIDs, and nothing else', () => {
    const text = encoded(new TestRun(anpE2ee, nodes)).toString();
    expect(text).toContain(fullPacket.id);
    for (const hidden of [
      'triples',
      'final_answer',
      't-1',
      'writer-3',
      'steps.log',
      'nested',
      '1788220800012',
    ]) {
      expect(text).not.toContain(hidden);
    }
  });

  it('is read by every member, whoever it is for', () => {
    const run = new TestRun(anpE2ee, nodes);
    for (const packet of [fullPacket, forAll, { ...fullPacket, to: 'hub' }]) {
      const blob = encoded(run, packet);
      for (const node of nodes) expect(run.codec(node).decode(blob)).toStrictEqual(packet);
    }
  });

  it('is read by nobody who has another run key', () => {
    const run = new TestRun(anpE2ee, nodes);
    const outsider = run.codec('reader', { runKey: new Uint8Array(32).fill(8) });
    expect(() => outsider.decode(encoded(run, { ...fullPacket, to: 'writer' }))).toThrow(/4005/);
  });

  it('encrypts the same packet otherwise each time, also for a member who has come back with its seed', () => {
    const join = () =>
      anpE2ee.join?.({ runId: 'test', self: 'extractor-1', seed: new Uint8Array(32).fill(1) });
    const runs = [join(), join()].map((member) => {
      if (member === undefined) throw new Error('no member');
      const offers = new Map([['extractor-1', member.offer]]);
      return member.open({ ...testSession, self: 'extractor-1', offers });
    });
    const texts = [...runs, ...runs].map((codec) => {
      const text = Buffer.from(codec.encode(forAll)).toString();
      return /"ciphertext_b64u":"([^"]+)/.exec(text)?.[1];
    });
    expect(new Set(texts).size).toBe(4);
  });

  it('refuses what came before or is out of order, and lets one blob be looked at twice', () => {
    const run = new TestRun(anpE2ee, nodes);
    const [first, second, third] = [encoded(run), encoded(run), encoded(run)];
    const reader = run.codec('reader');
    expect(reader.decode(first)).toStrictEqual(fullPacket);
    expect(reader.decode(first)).toStrictEqual(fullPacket);
    expect(() => reader.decode(Buffer.from(first))).toThrow(/replay_detected \(4008\)/);
    expect(reader.decode(third)).toStrictEqual(fullPacket);
    expect(() => reader.decode(second)).toThrow(/replay_detected/);
    expect(() => reader.decode(first)).toThrow(/replay_detected/);
    // The same object with other bytes is no second look.
    encoded(run).copy(third);
    expect(reader.decode(third)).toStrictEqual(fullPacket);
  });

  it('takes a second look through a layer that makes other bytes of a blob each time', () => {
    const run = new TestRun(applyLayers(anpE2ee, [createCompressionLayer('zstd')]), nodes);
    const [first, second] = [encoded(run), encoded(run)];
    const reader = run.codec('reader');
    // The codec cannot peek, so a reader of the head decodes, and may decode again.
    expect(reader.decode(first).id).toBe(fullPacket.id);
    expect(reader.decode(first)).toStrictEqual(fullPacket);
    expect(() => reader.decode(Buffer.from(first))).toThrow(/replay_detected/);
    expect(reader.decode(second)).toStrictEqual(fullPacket);
  });

  it(`goes on after ${MAX_SKIP} messages that never came, and not after more`, () => {
    for (const [skipped, goesOn] of [
      [MAX_SKIP, true],
      [MAX_SKIP + 1, false],
    ] as const) {
      const run = new TestRun(anpE2ee, nodes);
      const [sender, reader] = [run.codec('extractor-1'), run.codec('reader')];
      for (let i = 0; i < skipped; i++) sender.encode(fullPacket);
      const blob = sender.encode(fullPacket);
      if (goesOn) expect(reader.decode(blob)).toStrictEqual(fullPacket);
      else expect(() => reader.decode(blob)).toThrow(/max_skip_exceeded/);
    }
  });

  it('has an exact ledger where a message number gets another digit', () => {
    const run = new TestRun(anpE2ee, nodes);
    const codec = run.codec('extractor-1');
    const packets = Array.from({ length: 12 }, (_, i) => ({ ...fullPacket, id: `x${i + 10}` }));
    const blobs = packets.map((packet) => codec.encode(packet));
    const coding = packets.map(
      (packet, i) => measureLine(codec, packet, blobs[i]?.length ?? 0).payload_coding,
    );
    expect(new Set(coding).size).toBe(1);
    expect(blobs[10]?.length).toBe((blobs[9]?.length ?? 0) + 1);
  });

  it.each([
    [
      'decrypt_failed',
      'another packet id',
      (text: string) => text.replaceAll('extractor-1-7', 'extractor-1-8'),
    ],
    [
      'not the same',
      'another id of the call',
      (text: string) => text.replace('"id":"extractor-1-7"', '"id":"x"'),
    ],
    [
      'session_not_found',
      'another addressee',
      (text: string, hub: string) => text.replace(/("did":")[^"]+/, `$1${hub}`),
    ],
    [
      'session_not_found',
      'another sender',
      (text: string, hub: string) => text.replace(/("sender_did":")[^"]+/, `$1${hub}`),
    ],
    ['no member', 'a stranger', (text: string) => text.replace(/("sender_did":"[^"]+)[^"]"/, '$1"')],
    ['decrypt_failed', 'another number', (text: string) => text.replace('"n":"0"', '"n":"1"')],
    ['decrypt_failed', 'another chain length', (text: string) => text.replace('"pn":"1"', '"pn":"2"')],
    [
      'decrypt_failed',
      'another ratchet key',
      (text: string) => text.replace(/("dh_pub_b64u":").{4}/, '$1AAAA'),
    ],
    [
      'no secret',
      'a ratchet key of small order',
      (text: string) => text.replace(/("dh_pub_b64u":")[^"]+/, `$1${'A'.repeat(43)}`),
    ],
    [
      'decrypt_failed',
      'other ciphertext',
      (text: string) => text.replace(/("ciphertext_b64u":").{4}/, '$1AAAA'),
    ],
    ['decrypt_failed', 'no ciphertext', (text: string) => text.replace(/("ciphertext_b64u":")[^"]+/, '$1')],
    [
      'decrypt_failed',
      'base64 with padding',
      (text: string) => text.replace(/("ciphertext_b64u":"[^"]+)/, '$1='),
    ],
    ['decimal', 'a number in another form', (text: string) => text.replace('"n":"0"', '"n":"00"')],
    ['comes twice', 'a key twice', (text: string) => text.replace('"pn":"1"', '"pn":"1","pn":"1"')],
    [
      'recipient_device_id',
      'another device',
      (text: string) => text.replace('"recipient_device_id":"d1"', '"recipient_device_id":"d2"'),
    ],
    [
      'auth',
      'a proof, which P5 forbids',
      (text: string) => text.replace('"params":{', '"params":{"auth":{},'),
    ],
  ])('refuses (%s): %s', (reason, _what, change) => {
    const run = new TestRun(anpE2ee, nodes);
    const text = encoded(run).toString();
    const hub = JSON.stringify(run.offers.get('hub')).match(/did:wba:[^"#]+/)?.[0] ?? '';
    const forged = change(text, hub);
    expect(forged).not.toBe(text);
    const reader = run.codec('reader');
    expect(() => reader.decode(Buffer.from(forged))).toThrow(refused);
    expect(() => reader.decode(Buffer.from(forged))).toThrow(reason);
    // Refused messages have changed nothing.
    expect(reader.decode(Buffer.from(text))).toStrictEqual(fullPacket);
  });
});

/** Returns the adapter with the golden keys; recipients have the given keys, or default ones. */
function goldenE2ee(
  device?: ReturnType<Parameters<typeof createAnpE2eeAdapter>[0]['deviceOf']>,
  isForAll = false,
) {
  return createAnpE2eeAdapter({
    ...goldenSources,
    everybody: isForAll ? goldenSources.everybody : () => 'did:wba:mesh.local:agents:all:e1_',
    secretOf: (member, keyName) =>
      keyName === 'ephemeral' ? bytes(keys.ephemeral_priv_hex) : goldenSources.secretOf(member, keyName),
    ratchetSecret: () => bytes(keys.ratchet_sender_2_hex),
    deviceOf: () =>
      device ?? {
        staticKey: x25519(goldenIdentity('hub').X25519),
        signedPrekey: x25519(keys.spk_priv_hex),
        ratchet: x25519(keys.ratchet_recipient_1_hex),
      },
  });
}

function bytes(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}

function x25519(hex: string): KeyObject {
  return importPrivateKey('X25519', bytes(hex));
}
