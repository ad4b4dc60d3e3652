import { copyHead, HUB_ID, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { Packr } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import { msgpack } from './msgpack.ts';
import { msgpackRecords } from './msgpack-records.ts';
import { plainPacket, randomPackets } from './testing/packets.ts';
import { recordTable } from './testing/record-table.ts';
import { opened, refused, testSession } from './testing/session.ts';

const { codec, peek } = opened(msgpackRecords);

function join(self: string) {
  const member = msgpackRecords.join?.({ runId: 'test', self });
  if (member === undefined) throw new Error('no join');
  return member;
}

/** A packet whose payload is `{a: …}` with these bytes for the value. */
function withPayloadValue(...value: readonly number[]): Buffer {
  const blob = codec.encode({ ...plainPacket, payload: {} });
  return Buffer.concat([blob.subarray(0, -1), Buffer.of(0x81, 0xa1, 0x61), Buffer.from(value)]);
}

const triple = { subject: 'a', relation: 'b', object: 'c', sentence: 0, start: 4, scores: [1] };

describe('msgpack-records', () => {
  it('writes what msgpackr writes with the table, and is read by it', () => {
    const plain = new Packr({
      structures: recordTable.map((keys) => [...keys]),
      maxSharedStructures: recordTable.length,
      maxOwnStructures: 0,
      mapsAsObjects: true,
      variableMapSize: true,
    });
    const packet = { ...plainPacket, payload: { question: 'q', sentences: [], triples: [triple] } };
    const blob = codec.encode(packet);
    expect(plain.unpack(blob)).toStrictEqual(packet);
    const { payload, ts, token_used, tag, task_id, id, to, from, type } = packet;
    const inOrder = { type, from, to, id, task_id, tag, token_used, ts, payload };
    expect(Buffer.from(blob).equals(plain.pack(inOrder))).toBe(true);
  });

  it('writes no key of the envelope, nor of a payload that is in the table', () => {
    const blob = Buffer.from(
      codec.encode({ ...plainPacket, payload: { question: 'q', sentences: [], triples: [triple] } }),
    );
    for (const key of ['type', 'task_id', 'token_used', 'payload', 'question', 'subject', 'scores'])
      expect(blob.includes(key), key).toBe(false);
    expect(codec.headerSize(plainPacket)).toBeLessThan(
      msgpack.open(testSession).headerSize(plainPacket) - 40,
    );
  });

  it('writes as a map what has other keys than a record, or the same in another order', () => {
    const { subject, relation, ...rest } = triple;
    for (const payload of [{ ...triple, more: 1 }, { relation, subject, ...rest }, { subject }]) {
      const blob = Buffer.from(codec.encode({ ...plainPacket, payload }));
      expect(blob.includes('subject')).toBe(true);
      expect(codec.decode(blob)).toStrictEqual({ ...plainPacket, payload });
    }
  });

  it('writes the same bytes for a packet whatever came before: it learns nothing', () => {
    for (const packet of randomPackets(100)) {
      const before = Buffer.from(codec.encode(plainPacket));
      expect(codec.decode(codec.encode(packet))).toStrictEqual(packet);
      expect(before.equals(codec.encode(plainPacket))).toBe(true);
    }
  });

  it('has room in its table for one byte a record', () => {
    expect(recordTable.length).toBeLessThanOrEqual(32);
    expect(new Set(recordTable.map((keys) => keys.join())).size).toBe(recordTable.length);
  });

  it.each<[string, number[]]>([
    ['a record that is not in the table', [0x40 + recordTable.length]],
    ['a record definition of msgpackr', [0xd4, 0x72, 0x40, 0x91, 0xa1, 0x61, 1]],
    ['a record definition with two bytes', [0xd5, 0x72, 0x60, 0, 0x91, 0xa1, 0x61, 1]],
    ['a record with too few values', [0x40 + recordTable.length - 1]],
    ['a record for a key', [0x81, 0x40 + recordTable.length - 1, 0xa1, 0x61, 1]],
    ['something behind the end', [1, 1]],
  ])('refuses %s, which a peek does not look at', (_, value) => {
    const blob = withPayloadValue(...value);
    expect(() => codec.decode(blob)).toThrow(refused);
    expect(peek(blob)).toStrictEqual(copyHead(plainPacket));
    expect(codec.decode(codec.encode(plainPacket))).toStrictEqual(plainPacket);
  });

  it('refuses lists that are nested a million deep', () => {
    const blob = Buffer.concat([withPayloadValue(), Buffer.alloc(1_000_000, 0x91), Buffer.of(0x90)]);
    expect(() => codec.decode(blob)).toThrow(/nested deeper/);
  });

  it('takes no packet as a map, and none as a record of a payload', () => {
    const answer = Buffer.from(codec.encode(plainPacket));
    answer[0] = 0x40 + recordTable.length - 1;
    for (const blob of [msgpack.open(testSession).encode(plainPacket), answer, Buffer.of(0x07)]) {
      expect(() => codec.decode(blob)).toThrow(refused);
      expect(() => peek(blob)).toThrow(refused);
    }
  });

  it('refuses tokens that are a record', () => {
    const blob = Buffer.from(codec.encode({ ...plainPacket, token_used: 50 }));
    const at = blob.lastIndexOf(50);
    blob[at] = 0x40;
    expect(() => codec.decode(blob)).toThrow(refused);
    expect(() => peek(blob)).toThrow(refused);
  });

  it('takes a number from 64 to 127 for a number where it is written as one', () => {
    for (const token_used of [63, 64, 127, 128]) {
      const blob = codec.encode({ ...plainPacket, token_used });
      expect(peek(blob).token_used).toBe(token_used);
      expect(codec.decode(blob).token_used).toBe(token_used);
    }
  });

  describe('the table at the handshake', () => {
    const offers = (changed: Readonly<Record<string, JsonValue>> = {}) =>
      new Map(
        Object.entries({
          ...Object.fromEntries([HUB_ID, 'a', 'b'].map((id) => [id, join(id).offer])),
          ...changed,
        }),
      );

    it('is sent by the hub and confirmed by the agents', () => {
      expect(join('a').offer).toMatch(/^[0-9a-f]{64}$/);
      // The hub's offer arrives as parsed JSON.
      const sent = new Map(Object.entries(JSON.parse(JSON.stringify(Object.fromEntries(offers())))));
      const opened = join('a').open({ ...testSession, offers: offers() });
      expect(opened.decode(codec.encode(plainPacket))).toStrictEqual(plainPacket);
      expect(() => join(HUB_ID).open({ ...testSession, self: HUB_ID, offers: offers() })).not.toThrow();
      expect(sent).toEqual(offers());
    });

    it.each<[string, Readonly<Record<string, JsonValue>>]>([
      ['another table', { [HUB_ID]: [...recordTable.slice(1), ['x']] }],
      ['the same structures in another order', { [HUB_ID]: recordTable.toReversed() }],
      ['no table', { [HUB_ID]: null }],
      ['another hash', { b: '0'.repeat(64) }],
    ])('refuses a member with %s', (_, changed) => {
      expect(() => join('a').open({ ...testSession, offers: offers(changed) })).toThrow(
        expect.objectContaining({ code: 'handshake' }),
      );
    });
  });
});
