import assert from 'node:assert/strict';
import { measureLine } from '@gaia-mesh/core/contracts/ledger.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { ContractRun } from './run.ts';
import { assertSame } from './same.ts';
import { contractSamples } from './samples.ts';

export function checkPure(run: ContractRun, packet: Packet): void {
  // Layers are left out: random bytes, such as a signature's, do not always compress to the same length.
  const plainBytes = (blob: Uint8Array) => blob.length - run.layerBytes(packet).last;
  const before = plainBytes(run.encode(packet));
  const size = run.headerSize(packet);
  assert.equal(run.headerSize(packet), size, 'a second call gives another value');
  const blob = run.encode(packet);
  assert.equal(plainBytes(blob), before, 'the next blob has another length');
  assertSame(run.reader.decode(blob), packet, 'the next blob is another packet');
}

/** Maximum bytes of an empty payload, in any encoding; further bytes belong to the envelope. */
const MAX_EMPTY_PAYLOAD_BYTES = 8;

export function checkDefinition(run: ContractRun): void {
  const emptyPayloadBytes = new Set<number>();
  for (const { packet } of contractSamples) {
    const empty = { ...packet, payload: {} };
    assert.ok(run.headerSize(packet) >= 4, 'less than the length prefix');
    assert.equal(run.headerSize(packet), run.headerSize(empty), 'depends on the payload');
    const blob = run.encode(empty);
    const { overhead, last } = run.layerBytes(empty);
    const envelope = run.headerSize(packet) - 4 - overhead;
    assert.ok(envelope >= 0, `envelope of ${envelope} bytes`);
    emptyPayloadBytes.add(blob.length - last - envelope);
  }
  assert.equal(
    emptyPayloadBytes.size,
    1,
    `{} takes different numbers of bytes: ${[...emptyPayloadBytes].join(', ')}`,
  );
  for (const bytes of emptyPayloadBytes) {
    assert.ok(bytes >= 0 && bytes <= MAX_EMPTY_PAYLOAD_BYTES, `{} takes ${bytes} bytes`);
  }
}

export function checkLedger(run: ContractRun): void {
  for (const { packet } of contractSamples) {
    const blob = run.encode(packet);
    const layerBytes = run.layerBytes(packet);
    const codec = { ...run, layerBytes, decode: () => packet };
    const line = measureLine(codec, packet, blob.length, layerBytes.last);
    for (const [key, value] of Object.entries(line))
      assert.ok(Number.isSafeInteger(value), `${key} is ${value}`);
    assert.equal(line.wire, 4 + blob.length);
    assert.equal(line.wire, line.framing + line.envelope + line.payload + line.payload_coding + line.layers);
    assert.equal(line.net, line.wire - line.payload);
    assert.equal(line.header_size, line.framing + line.envelope + layerBytes.overhead);
    assert.ok(line.envelope >= 0, `envelope of ${line.envelope} bytes`);
  }
}

export function checkLayerBytes(run: ContractRun): void {
  const overheads = new Set<number>();
  for (const { packet } of contractSamples) {
    run.headerSize(packet);
    const blob = run.encode(packet);
    const { overhead, last } = run.layerBytes(packet);
    overheads.add(overhead);
    assert.ok(overhead >= 0, `an overhead of ${overhead} bytes`);
    assert.ok(last <= overhead, `${last} bytes were added, and ${overhead} is what is always added`);
    assert.ok(blob.length - last > 0, `${blob.length} bytes of which layers added ${last}`);
    run.headerSize(packet);
    assert.equal(run.layerBytes(packet).last, last, 'headerSize changes what the layers added');
  }
  assert.equal(overheads.size, 1, `overheads differ: ${[...overheads].join(', ')}`);
}
