import { createLedgerLine, type LedgerLine } from '@gaia-mesh/core/contracts/ledger.ts';
import { adapterNames } from '@gaia-mesh/protocols/registry.ts';
import { describe, expect, test } from 'vitest';
import { sampleLine } from '../../compare/testing/sample-comparison.ts';
import { type ByteWaterfall, buildByteWaterfall } from './byte-waterfall.ts';

const layered = ['json+zstd', 'msgpack+deflate+ed25519', 'cbor+aes-256-gcm+crc32c', 'mcp+brotli'];

function expectWhole({ steps, wire }: ByteWaterfall, line: LedgerLine): void {
  let total = 0;
  for (const { part, from, to } of steps) {
    expect(from).toBe(total);
    expect(to - from).toBe(line[part]);
    total = to;
  }
  expect(total).toBe(wire);
  expect(wire).toBe(line.wire);
}

describe('a waterfall', () => {
  test.each([...adapterNames, ...layered])('of %s leads from 0 to the bytes on the wire', async (spec) => {
    const line = await sampleLine(spec);
    const waterfall = buildByteWaterfall(spec, line);

    expectWhole(waterfall, line);
    expect(waterfall.unexplained).toBe(0);
  });

  test('adds first and saves last, and leaves out what is nothing', () => {
    const line = {
      ...createLedgerLine(),
      packets: 1,
      payload: 100,
      framing: 4,
      payload_coding: -30,
      wire: 74,
    };

    const { steps, text, netText } = buildByteWaterfall('msgpack', line);

    expect(steps.map(({ part, from, to }) => [part, from, to])).toEqual([
      ['payload', 0, 100],
      ['framing', 100, 104],
      ['payload_coding', 104, 74],
    ]);
    expect(steps.at(-1)?.text).toBe('coding −30 B');
    expect([text, netText]).toEqual(['74\u00a0B', '−26 B']);
  });

  test('of a line that does not add up says by how much', () => {
    const line = { ...createLedgerLine(), payload: 100, wire: 90 };

    expect(buildByteWaterfall('forged', line).unexplained).toBe(-10);
  });
});
