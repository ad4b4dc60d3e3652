import { describe, expect, it } from 'vitest';
import type { Codec } from './adapter.ts';
import { addLine, createLedgerLine, ledgerLineSchema, measureLine } from './ledger.ts';
import type { Packet } from './packet.ts';

const packet: Packet = {
  type: 'events',
  from: 'a',
  id: 'a-1',
  task_id: 't',
  token_used: 0,
  ts: 0,
  payload: { text: 'né' },
};

/** A codec that has only sizes: 30 bytes of envelope. */
const codec: Codec = {
  encode: () => new Uint8Array(42),
  decode: () => packet,
  headerSize: () => 4 + 30,
};

describe('measureLine', () => {
  it('puts every byte on one line', () => {
    // Payload: {"text":"né"} is 14 bytes of UTF-8. Blob: 42.
    expect(measureLine(codec, packet, 42)).toEqual({
      packets: 1,
      wire: 46,
      payload: 14,
      framing: 4,
      envelope: 30,
      payload_coding: -2,
      layers: 0,
      header_size: 34,
      net: 32,
    });
  });

  it('keeps what layers added apart from the coding of the payload, and their fixed part in the header', () => {
    const layered: Codec = { ...codec, headerSize: () => 4 + 30 + 8, layerBytes: { last: 11, overhead: 8 } };
    const line = measureLine(layered, packet, 53, 11);
    expect(line).toMatchObject({
      wire: 57,
      envelope: 30,
      payload: 14,
      payload_coding: -2,
      layers: 11,
      header_size: 42,
    });
    expect(line.framing + line.envelope + line.payload + line.payload_coding + line.layers).toBe(line.wire);
  });

  it.each([31, 44, 1000])('adds up whatever the size of the blob: %i', (blobBytes) => {
    const line = measureLine(codec, packet, blobBytes);
    expect(line.framing + line.envelope + line.payload + line.payload_coding + line.layers).toBe(line.wire);
    expect(line.header_size + line.payload_coding + line.layers).toBe(line.net);
    expect(ledgerLineSchema.parse(line)).toEqual(line);
  });
});

describe('addLine', () => {
  it('adds each key of a line to that of the sum', () => {
    const sum = createLedgerLine();
    const line = measureLine(codec, packet, 42);
    addLine(sum, line);
    addLine(sum, line);
    expect(sum).toEqual(Object.fromEntries(Object.entries(line).map(([key, value]) => [key, value * 2])));
  });

  it('adds every key that a line has', () => {
    expect(Object.keys(createLedgerLine()).sort()).toEqual(Object.keys(ledgerLineSchema.shape).sort());
  });
});
