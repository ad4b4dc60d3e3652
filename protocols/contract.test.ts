import { measureLine } from '@gaia-mesh/core/contracts/ledger.ts';
import { parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import { describe, expect, it } from 'vitest';
import { listContractChecks } from './contract/suite.ts';
import { adapterNames, loadAdapter } from './registry.ts';
import golden from './testing/golden-packets.json' with { type: 'json' };
import { testSession } from './testing/session.ts';
import { writers } from './testing/writers/index.ts';

for (const name of adapterNames) {
  const adapter = await loadAdapter(name);

  describe(`contract of ${name} (MP-30, MP-33)`, () => {
    it('bears the name it is registered under', () => expect(adapter.name).toBe(name));
    for (const check of listContractChecks(adapter, writers[name])) it(check.name, () => check.run());
  });
}

/** The bytes come from other people's libraries, and the rows were computed without this code. */
describe('golden packets', () => {
  for (const sample of golden) {
    const blobs = {
      json: Buffer.from(sample.json),
      msgpack: Buffer.from(sample.msgpack, 'hex'),
      cbor: Buffer.from(sample.cbor, 'hex'),
      protobuf: Buffer.from(sample.protobuf, 'hex'),
    };
    const packet = parsePacket(sample.packet);

    for (const name of ['json', 'msgpack', 'cbor', 'protobuf'] as const) {
      it(`${sample.name} as ${name}: bytes, packet and ledger row`, async () => {
        const codec = (await loadAdapter(name)).open(testSession);
        const blob = codec.encode(packet);
        expect(Buffer.from(blob).toString('hex')).toBe(blobs[name].toString('hex'));
        expect(codec.decode(blobs[name])).toStrictEqual(packet);
        expect(measureLine(codec, packet, blob.length)).toMatchObject(sample.rows[name]);
      });
    }
  }
});

describe('registry', () => {
  it.each([
    ['messagepack-json', 'json'],
    ['MSGPACK', 'msgpack'],
    ['pack', 'msgpack'],
  ])('suggests what %s may have meant', async (asked, meant) => {
    await expect(loadAdapter(asked)).rejects.toThrow(`did you mean ${meant}?`);
  });

  it.each(['constructor', '__proto__', 'toString', ''])('knows no adapter named "%s"', async (name) => {
    await expect(loadAdapter(name)).rejects.toMatchObject({ code: 'usage' });
  });
});
