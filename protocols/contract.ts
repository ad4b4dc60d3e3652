import assert from 'node:assert/strict';
import type { Codec, LayerBytes, ProtocolAdapter } from '../core/adapter.ts';
import { MeshError } from '../core/errors.ts';
import { lineOf } from '../core/ledger.ts';
import {
  type JsonObject,
  type JsonValue,
  type Packet,
  type PacketHead,
  parsePacket,
} from '../core/packet.ts';
import { contractSamples, fullPacket } from './contract-samples.ts';

/**
 * What every adapter must do, whoever wrote it, as plain checks without a test runner. What is an adapter's own (its exact
 * bytes, what its format can hold) is in the test beside it.
 */
export interface ContractCheck {
  readonly name: string;
  /** @throws AssertionError, or whatever the adapter threw where it should not have */
  run(): void;
}

/** The contract for `adapter`. Every check opens its own pair of codecs. Quick: together about a second. */
export function contractChecks(adapter: ProtocolAdapter): readonly ContractCheck[] {
  return checks.map(({ name, run }) => ({ name, run: () => run(pairOf(adapter)) }));
}

/** Who writes and who reads. */
interface Pair {
  readonly writer: Writer;
  readonly reader: Codec;
}

/** Writes each packet as the node that it is from: codecs that sign write for no other. */
interface Writer {
  encode(packet: Packet): Uint8Array;
  headerSize(packet: Packet): number;
  /** What layers have added to the packet that was encoded last; 0 without layers. */
  layerBytes(packet: Packet): LayerBytes;
}

interface PairCheck {
  readonly name: string;
  run(pair: Pair): void;
}

const READER = 'hub';
const WRITERS = [...new Set(contractSamples.map(({ packet }) => packet.from))];
const ADDRESSEES = contractSamples.flatMap(({ packet }) => packet.to ?? []);
const MEMBERS = new Set([READER, ...WRITERS, ...ADDRESSEES]);

function pairOf(adapter: ProtocolAdapter): Pair {
  const runId = 'contract';
  const key = new Uint8Array(32).fill(7);
  const members = new Map([...MEMBERS].map((self) => [self, adapter.join?.({ runId, self })] as const));
  const offers = new Map<string, JsonValue>();
  for (const [node, member] of members) if (member !== undefined) offers.set(node, member.offer);
  const open = (self: string, peer: string) =>
    (members.get(self) ?? adapter).open({ runId, self, peer, linkKey: key, runKey: key, offers });
  const codecs = new Map(WRITERS.map((from) => [from, open(from, READER)] as const));
  const codecOf = ({ from }: Packet): Codec => {
    const codec = codecs.get(from);
    assert.ok(codec, `no sample is from ${from}`);
    return codec;
  };
  return {
    writer: {
      encode: (packet) => codecOf(packet).encode(packet),
      headerSize: (packet) => codecOf(packet).headerSize(packet),
      layerBytes: (packet) => ({ overhead: 0, last: 0, ...codecOf(packet).layerBytes }),
    },
    reader: open(READER, '*'),
  };
}

const checks: readonly PairCheck[] = [
  ...contractSamples.map(({ name, packet }) => ({
    name: `round trip: ${name}`,
    run: (pair: Pair) => checkRoundTrip(pair, packet),
  })),
  { name: 'round trip with the keys in any order', run: checkKeyOrders },
  { name: 'a payload key __proto__ never arrives as something else', run: checkProto },
  ...contractSamples.map(({ name, packet }) => ({
    name: `headerSize is pure: ${name}`,
    run: (pair: Pair) => checkHeaderSizeIsPure(pair, packet),
  })),
  { name: 'headerSize is the ledger definition', run: checkHeaderSizeIsTheDefinition },
  { name: 'every byte is on one line of the ledger', run: checkLedger },
  { name: 'layers add the same to every packet, and never more', run: checkLayerBytes },
  { name: 'a blob that was handed out is not written again', run: checkBlobsStay },
  { name: 'a decoded packet keeps nothing of the bytes it came in', run: checkNoViews },
  { name: 'a blob cut at any byte is refused', run: checkTruncation },
  { name: 'bytes behind the packet are refused', run: checkTrailingBytes },
  { name: 'a flipped bit is refused or gives another valid packet', run: checkBitFlips },
  { name: 'random bytes are refused', run: checkRandomBytes },
];

function checkRoundTrip({ writer, reader }: Pair, packet: Packet): void {
  const blob = writer.encode(packet);
  assert.deepEqual(reader.decode(blob), packet);
  if (reader.peek !== undefined) assert.deepEqual(reader.peek(blob), headOf(packet));
}

function checkKeyOrders(pair: Pair): void {
  const random = randomFrom(1);
  for (let i = 0; i < 50; i++) {
    const packet = parsePacket(Object.fromEntries(shuffled(Object.entries(fullPacket), random)));
    checkRoundTrip(pair, packet);
  }
}

function checkProto({ writer, reader }: Pair): void {
  const payload: JsonObject = JSON.parse('{"a":{"__proto__":{"polluted":true}}}');
  assertRefused(
    () => reader.decode(writer.encode({ ...fullPacket, payload })),
    'a payload with a key __proto__',
  );
}

function checkHeaderSizeIsPure({ writer, reader }: Pair, packet: Packet): void {
  // Without layers: random bytes, such as a signature's, do not always compress to the same length.
  const plainBytes = (blob: Uint8Array) => blob.length - writer.layerBytes(packet).last;
  const before = plainBytes(writer.encode(packet));
  const size = writer.headerSize(packet);
  assert.equal(writer.headerSize(packet), size, 'a second call gives another value');
  const blob = writer.encode(packet);
  assert.equal(plainBytes(blob), before, 'the next blob has another length');
  assert.deepEqual(reader.decode(blob), packet, 'the next blob is another packet');
}

/** Bytes of an empty payload, in any encoding; what is more belongs to the envelope. */
const MAX_EMPTY_PAYLOAD_BYTES = 8;

function checkHeaderSizeIsTheDefinition({ writer }: Pair): void {
  const emptyPayloadBytes = new Set<number>();
  for (const { packet } of contractSamples) {
    const empty = { ...packet, payload: {} };
    assert.ok(writer.headerSize(packet) >= 4, 'less than the length prefix');
    assert.equal(writer.headerSize(packet), writer.headerSize(empty), 'depends on the payload');
    const blob = writer.encode(empty);
    const { overhead, last } = writer.layerBytes(empty);
    const envelope = writer.headerSize(packet) - 4 - overhead;
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

function checkLedger({ writer }: Pair): void {
  for (const { packet } of contractSamples) {
    const blob = writer.encode(packet);
    const layerBytes = writer.layerBytes(packet);
    const codec = { ...writer, layerBytes, decode: () => packet };
    const line = lineOf(codec, packet, blob.length, layerBytes.last);
    for (const [key, value] of Object.entries(line))
      assert.ok(Number.isSafeInteger(value), `${key} is ${value}`);
    assert.equal(line.wire, 4 + blob.length);
    assert.equal(line.wire, line.framing + line.envelope + line.payload + line.payload_coding + line.layers);
    assert.equal(line.net, line.wire - line.payload);
    assert.equal(line.header_size, line.framing + line.envelope + layerBytes.overhead);
    assert.ok(line.envelope >= 0, `envelope of ${line.envelope} bytes`);
  }
}

function checkLayerBytes({ writer }: Pair): void {
  const overheads = new Set<number>();
  for (const { packet } of contractSamples) {
    writer.headerSize(packet);
    const blob = writer.encode(packet);
    const { overhead, last } = writer.layerBytes(packet);
    overheads.add(overhead);
    assert.ok(overhead >= 0, `an overhead of ${overhead} bytes`);
    assert.ok(last <= overhead, `${last} bytes were added, and ${overhead} is what is always added`);
    assert.ok(blob.length - last > 0, `${blob.length} bytes of which layers added ${last}`);
    writer.headerSize(packet);
    assert.equal(writer.layerBytes(packet).last, last, 'headerSize changes what the layers added');
  }
  assert.equal(overheads.size, 1, `overheads differ: ${[...overheads].join(', ')}`);
}

function checkBlobsStay({ writer, reader }: Pair): void {
  const blobs = contractSamples.map(({ packet }) => writer.encode(packet));
  const copies = blobs.map((blob) => Buffer.from(blob));
  for (const { packet } of contractSamples) reader.decode(writer.encode(packet));
  blobs.forEach((blob, i) => {
    assert.ok(copies[i]?.equals(blob), `blob ${i} has changed`);
  });
}

function checkNoViews({ writer, reader }: Pair): void {
  for (const { packet } of contractSamples) {
    const blob = Buffer.from(writer.encode(packet));
    const head = reader.peek?.(blob);
    const decoded = reader.decode(blob);
    blob.fill(0x5a);
    assert.deepEqual(decoded, packet);
    if (head !== undefined) assert.deepEqual(head, headOf(packet));
  }
}

function checkTruncation({ writer, reader }: Pair): void {
  const blob = Buffer.from(writer.encode(fullPacket));
  for (let length = 0; length < blob.length; length++) {
    assertRefused(() => reader.decode(blob.subarray(0, length)), `${length} of ${blob.length} bytes`);
    assertSound(reader, blob.subarray(0, length), `${length} of ${blob.length} bytes`);
  }
}

function checkTrailingBytes({ writer, reader }: Pair): void {
  const blob = writer.encode(fullPacket);
  for (const tail of [
    Buffer.of(0),
    Buffer.of(0x7d),
    Buffer.of(0xc0),
    Buffer.of(0xff),
    Buffer.from('x'),
    blob,
  ]) {
    const bytes = Buffer.concat([blob, tail]);
    assertRefused(
      () => reader.decode(bytes),
      `${tail.length} bytes from 0x${tail[0]?.toString(16)} behind it`,
    );
    if (reader.peek !== undefined) assertRefused(() => reader.peek?.(bytes), 'the same in a peek');
  }
}

function checkBitFlips({ writer, reader }: Pair): void {
  const blob = Buffer.from(writer.encode(fullPacket));
  for (let bit = 0; bit < blob.length * 8; bit++) {
    const flipped = Buffer.from(blob);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assertSound(reader, flipped, `bit ${bit & 7} of byte ${bit >> 3} flipped`);
  }
}

function checkRandomBytes({ writer, reader }: Pair): void {
  const random = randomFrom(2);
  const valid = writer.encode(fullPacket);
  for (let i = 0; i < 2000; i++) {
    const length = Math.floor(random() * 200);
    const bytes = Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
    assertSound(reader, bytes, `random blob ${i}`);
    // Most random bytes end at the first one: what begins well comes further.
    const start = Math.floor(random() * valid.length);
    assertSound(
      reader,
      Buffer.concat([valid.subarray(0, start), bytes]),
      `random blob ${i} behind ${start} good bytes`,
    );
  }
}

/** Decoding either gives a valid packet, on which a peek agrees, or is refused; a peek may refuse or accept then. */
function assertSound(codec: Codec, blob: Uint8Array, what: string): void {
  const packet = attempt(() => codec.decode(blob), what);
  const head = attempt(() => codec.peek?.(blob), what);
  if (packet === undefined) return;
  assert.deepEqual(parsePacket(packet), packet);
  if (codec.peek !== undefined) assert.deepEqual(head, headOf(packet), `peek and decode differ: ${what}`);
}

/** The result; undefined where it was refused in the one way that is allowed. */
function attempt<T>(run: () => T, what: string): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof MeshError && error.code === 'packet') return undefined;
    throw new assert.AssertionError({
      message: `${what}: threw ${String(error)}, not a MeshError with code packet`,
    });
  }
}

function assertRefused(run: () => unknown, what: string): void {
  assert.equal(attempt(run, what), undefined, `${what}: was not refused`);
}

function headOf(packet: Packet): PacketHead {
  const { type, from, to, id, task_id, tag, token_used } = packet;
  return {
    type,
    from,
    ...(to === undefined ? {} : { to }),
    id,
    task_id,
    ...(tag === undefined ? {} : { tag }),
    token_used,
  };
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}
