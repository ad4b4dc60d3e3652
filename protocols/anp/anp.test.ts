import { measureLine } from '@gaia-mesh/core/contracts/ledger.ts';
import type { JsonObject, Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { describe, expect, it } from 'vitest';
import { anp } from '../anp.ts';
import { fullPacket } from '../contract/samples.ts';
import {
  goldenAnp,
  goldenIdentities,
  goldenIdentity,
  goldenNodes,
  goldenRows,
  tamperedRequests,
} from '../testing/anp-golden.ts';
import { shownLike } from '../testing/golden-envelopes.ts';
import { TestRun } from '../testing/members.ts';
import { refused, testSession } from '../testing/session.ts';

describe('golden ANP requests', () => {
  it.each(goldenIdentities)('$name has the golden DID document', ({ name, did_document }) => {
    const run = new TestRun(goldenAnp(fullPacket), goldenNodes);
    expect(JSON.stringify(run.offers.get(name))).toBe(JSON.stringify({ did_document }));
  });

  it.each(goldenRows)(
    '$name: bytes, packet and ledger row',
    ({ packet, request, signature_base, ledger }) => {
      const [, nonce] = /nonce="([^"]+)"/.exec(signature_base) ?? [];
      const run = new TestRun(goldenAnp(packet, nonce), goldenNodes);
      const codec = run.codec(packet.from);
      const blob = codec.encode(packet);
      expect(shownLike(request, blob, 'utf8')).toStrictEqual(request);
      expect(measureLine(codec, packet, blob.length)).toMatchObject(ledger.anp ?? {});
      expect(run.codec('graph').decode(blob)).toStrictEqual(packet);
    },
  );

  it.each(tamperedRequests)('$name is refused: $expect', ({ name, request }) => {
    const run = new TestRun(goldenAnp(fullPacket), goldenNodes);
    const reasons: Record<string, RegExp> = {
      'payload-changed': /2005.*digest/,
      'signature-bit': /2005.*signature/,
      'numeric-id': /anp\.invalid_request_id \(1000\)/,
      'device-id-in-base': /params\.meta.*sender_device_id/,
    };
    expect(() => run.codec('graph').decode(Buffer.from(request))).toThrow(reasons[name]);
    expect(() => run.codec('graph').decode(Buffer.from(request))).toThrow(refused);
  });
});

describe('anp', () => {
  const run = () => new TestRun(anp, ['hub', 'extractor-1', 'writer']);
  const signed = (packet: Packet, by = run()) => {
    const text = Buffer.from(by.codec(packet.from).encode(packet)).toString();
    return { by, text, change: (from: string, to: string) => Buffer.from(text.replaceAll(from, to)) };
  };

  it('says what it needs when it is opened without its members', () => {
    expect(() => anp.open(testSession)).toThrow(/through join/);
  });

  it('makes other keys in every run, and the same ones of a seed', () => {
    const seed = new Uint8Array(32).fill(1);
    const offerOf = (member: { seed?: Uint8Array }) => anp.join?.({ runId: 'r', self: 'a', ...member }).offer;
    expect(offerOf({})).not.toStrictEqual(offerOf({}));
    expect(offerOf({ seed })).toStrictEqual(offerOf({ seed }));
    expect(offerOf({ seed })).not.toStrictEqual(offerOf({ seed: new Uint8Array(32).fill(2) }));
  });

  it('signs for nobody else', () => {
    expect(() => run().codec('writer').encode(fullPacket)).toThrow(/writer cannot sign for extractor-1/);
  });

  it('writes to members only', () => {
    const stranger = { ...fullPacket, to: 'nobody' };
    expect(() => run().codec('extractor-1').encode(stranger)).toThrow(/no DID document of nobody/);
  });

  it('tells a packet for the hub from one for everybody', () => {
    const { to: _, ...forAll } = fullPacket;
    for (const packet of [forAll, { ...forAll, to: 'hub' }]) {
      const { by, text } = signed(packet);
      expect(by.codec('writer').decode(Buffer.from(text))).toStrictEqual(packet);
      expect(by.codec('writer').peek?.(Buffer.from(text)).to).toBe(packet === forAll ? undefined : 'hub');
    }
  });

  it.each([
    ['2006', 'keyid', (text: string, writer: string) => text.replace(/(keyid=\\")[^#]+/, `$1${writer}`)],
    [
      '2006',
      'sender',
      (text: string, writer: string) => text.replace(/("sender_did":")[^"]+/, `$1${writer}`),
    ],
    ['2005', 'another key', (text: string) => text.replace(/#key-1/, '#ka-1')],
    ['2005', 'other components', (text: string) => text.replace('\\"@target-uri\\" ', '')],
    ['2005', 'other time', (text: string) => text.replace('created=1', 'created=2')],
    ['2005', 'other nonce', (text: string) => text.replace(/nonce=\\"./, 'nonce=\\"_')],
    ['2005', 'another label', (text: string) => text.replace('sig1=:', 'sig2=:')],
    ['2005', 'another digest', (text: string) => text.replace('sha-256=:', 'sha-512=:')],
    [
      '2005',
      'another target',
      (text: string, writer: string) => text.replace(/("did":")[^"]+/, `$1${writer}`),
    ],
    ['2005', 'another type', (text: string) => text.replace('"type":"triples"', '"type":"doc_init"')],
    [
      '2005',
      'a signature written otherwise',
      (text: string) => text.replace(/.(?===:")/, (c) => (c === 'A' ? 'B' : 'A')),
    ],
    [
      'not the same',
      'another id of the call',
      (text: string) => text.replace('"id":"extractor-1-7"', '"id":"x"'),
    ],
    ['no member', 'a stranger', (text: string) => text.replace(/("sender_did":"[^"]+)[^"]"/, '$1"')],
    ['scheme', 'no proof', (text: string) => text.replace(/"auth":\{.*?\}\}/, '"auth":{}')],
  ])('refuses (%s): %s', (reason, _what, change) => {
    const { by, text } = signed({ ...fullPacket, to: 'hub' });
    const writer = JSON.stringify(by.offers.get('writer')).match(/did:wba:[^"#]+/)?.[0] ?? '';
    const forged = change(text, writer);
    expect(forged).not.toBe(text);
    expect(() => by.codec('hub').decode(Buffer.from(forged))).toThrow(refused);
    expect(() => by.codec('hub').decode(Buffer.from(forged))).toThrow(reason);
    expect(by.codec('hub').decode(Buffer.from(text)).from).toBe('extractor-1');
  });

  it('refuses a payload that is nested 100,000 deep', () => {
    const { by, change } = signed({ ...fullPacket, to: 'hub', payload: { deep: '' } });
    const deep = change('"deep":""', `"deep":${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    expect(() => by.codec('hub').decode(deep)).toThrow(refused);
  });

  it('refuses what came before, and lets one blob be looked at twice', () => {
    const by = run();
    const [sender, reader] = [by.codec('extractor-1'), by.codec('hub')];
    const [first, second] = [Buffer.from(sender.encode(fullPacket)), Buffer.from(sender.encode(fullPacket))];
    expect(reader.peek?.(first).id).toBe(fullPacket.id);
    expect(reader.decode(first)).toStrictEqual(reader.decode(first));
    expect(() => reader.decode(Buffer.from(first))).toThrow(/came before/);
    expect(reader.decode(second)).toStrictEqual(fullPacket);
    expect(() => reader.decode(first)).toThrow(/came before/);
  });

  it('keeps a time that RFC 3339 cannot write', () => {
    for (const ts of [253_402_300_799_999, 253_402_300_800_000, Number.MAX_SAFE_INTEGER]) {
      const { by, text } = signed({ ...fullPacket, ts });
      expect(text.includes('created_at')).toBe(ts < 253_402_300_800_000);
      expect(by.codec('hub').decode(Buffer.from(text)).ts).toBe(ts);
    }
  });

  it.each([
    ['another name', (document: JsonObject) => document, 'mallory'],
    ['another key', (document: JsonObject) => replaced(document, 'publicKeyMultibase'), 'writer'],
    ['a changed service', (document: JsonObject) => replaced(document, 'serviceEndpoint'), 'writer'],
    ['no proof', ({ proof: _, ...document }: JsonObject) => document, 'writer'],
  ])('refuses a DID document with %s', (_what, change, node) => {
    const document: JsonObject = JSON.parse(JSON.stringify(goldenIdentity('writer').did_document));
    const members = new TestRun(goldenAnp(fullPacket), goldenNodes);
    const open = (name: string, did_document: JsonObject) =>
      members.codec('hub', { offers: new Map([[name, { did_document }]]) });
    expect(() => open('writer', document)).not.toThrow();
    expect(() => open(node, change(document))).toThrow(expect.objectContaining({ code: 'handshake' }));
  });

  function replaced(document: JsonObject, key: string): JsonObject {
    return JSON.parse(JSON.stringify(document).replace(new RegExp(`("${key}":"[^"]+)[^"]`), '$1X'));
  }
});
