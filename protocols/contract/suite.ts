import assert from 'node:assert/strict';
import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { measureLine } from '@gaia-mesh/core/contracts/ledger.ts';
import {
  copyHead,
  type JsonObject,
  type JsonValue,
  type Packet,
  parsePacket,
} from '@gaia-mesh/core/contracts/packet.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { drawBelow, drawPacket } from './random.ts';
import {
  assertArrives,
  assertRefused,
  assertSame,
  assertSound,
  type ContractRun,
  openRun,
  peekHead,
  tryCall,
} from './run.ts';
import { contractSamples, fullPacket } from './samples.ts';
import { checkSmallest } from './smallest.ts';
import { type EnvelopeWriter, listWriterChecks } from './written.ts';

export type { EnvelopeWriter };

/**
 * A check that every adapter must pass, without a test runner. Properties of one adapter alone (its exact
 * bytes, the values that its format can hold) are in the test beside it.
 */
interface ContractCheck {
  readonly name: string;
  /** @throws AssertionError, or the error that the adapter threw where it should not */
  run(): void;
}

/** Letters that JSON escapes, and letters in which the escapes are written. */
const LETTERS = ['\\', '\n', '"', '\u0001', 'n', 'u000a', 'é', '😀', 'h'];

const ADVICE = 'JSON.parse of Node 24 and 26 misreads keys with escapes; parseJsonText of gaia-mesh does not';

/**
 * Checks keys with escapes: the `JSON.parse` of Node 24 or newer takes `"\n"` for `"\\"` once it has read
 * that as a key (https://github.com/nodejs/node/issues/63785).
 */
function checkEscapedKeys(run: ContractRun): void {
  assertEachArrives(run, [
    { h: [], '\\': 0 },
    { h: 1, '\n': 2 },
    { h: 1, '"': 2 },
  ]);
  const random = new Random(6);
  assertEachArrives(
    run,
    Array.from({ length: 300 }, () => drawObject(random, 2)),
  );
}

function assertEachArrives(run: ContractRun, payloads: readonly JsonObject[]): void {
  for (const payload of payloads) {
    const packet = parsePacket({ ...fullPacket, payload });
    try {
      checkSmallest(run, packet, (each, smaller) => assertArrives(each, each.encode(smaller), smaller));
    } catch (error) {
      assert.fail(`${toErrorMessage(error)}. ${ADVICE}`);
    }
  }
}

function drawObject(random: Random, depth: number): JsonObject {
  const keys = Array.from({ length: drawBelow(random, 4) }, () => drawKey(random));
  return Object.fromEntries(keys.map((key): [string, JsonValue] => [key, drawValue(random, depth)]));
}

function drawKey(random: Random): string {
  return Array.from({ length: drawBelow(random, 4) }, () => LETTERS[drawBelow(random, LETTERS.length)]).join(
    '',
  );
}

function drawValue(random: Random, depth: number): JsonValue {
  if (depth === 0 || random.uniform() < 0.4) return drawBelow(random, 300);
  if (random.uniform() < 0.7) return drawObject(random, depth - 1);
  return Array.from({ length: drawBelow(random, 3) }, () => drawObject(random, depth - 1));
}

/** Returns the contract for `adapter`. Every check opens a run of its own; together they take a few seconds. */
export function listContractChecks(
  adapter: ProtocolAdapter,
  writer?: EnvelopeWriter,
): readonly ContractCheck[] {
  const pieces = (writer?.pieces ?? []).map((piece) => Buffer.from(piece));
  const checks: readonly (readonly [string, (run: ContractRun) => void])[] = [
    ...contractSamples.map(
      ({ name, packet }) =>
        [`round trip: ${name}`, (run: ContractRun) => checkRoundTrip(run, packet)] as const,
    ),
    ['round trip with the keys in any order', checkKeyOrders],
    ['round trip of random packets', checkRandomPackets],
    ['a payload key with escapes arrives as it is, whatever keys came before', checkEscapedKeys],
    ['a payload key __proto__ never arrives as something else', checkProto],
    ...contractSamples.map(
      ({ name, packet }) =>
        [`headerSize is pure: ${name}`, (run: ContractRun) => checkSmallest(run, packet, checkPure)] as const,
    ),
    ['headerSize is the ledger definition', checkDefinition],
    ['every byte is on one line of the ledger', checkLedger],
    ['layers add the same to every packet, and never more', checkLayerBytes],
    ['a blob that was handed out is not written again', checkBlobsStay],
    ['a decoded packet keeps nothing of the bytes it came in', checkNoViews],
    ['a blob cut at any byte is refused', (run) => checkSmallest(run, fullPacket, checkTruncation)],
    ['bytes behind the packet are refused', (run) => checkSmallest(run, fullPacket, checkTrailingBytes)],
    ['a flipped bit is refused or gives another valid packet', checkBitFlips],
    ['random bytes are refused', checkRandomBytes],
    ['a damaged packet is never peeked otherwise than it is decoded', (run) => checkDamage(run, pieces)],
    ['whatever the bytes, they take time by the byte', (run) => checkTime(run, pieces)],
    ...(writer === undefined ? [] : listWriterChecks(writer)),
  ];
  return checks.map(([name, check]) => ({ name, run: () => check(openRun(adapter)) }));
}

function checkRoundTrip(run: ContractRun, packet: Packet): void {
  checkSmallest(run, packet, (each, smaller) => assertArrives(each, each.encode(smaller), smaller));
}

function checkKeyOrders(run: ContractRun): void {
  const random = new Random(1);
  const members = Object.entries(fullPacket);
  const orders = [
    // A peek that ends at the payload would miss a member behind it.
    ...members.map((last) => [...members.filter((member) => member !== last), last]),
    ...Array.from({ length: 50 }, () => random.shuffle(members)),
  ];
  for (const order of orders) checkRoundTrip(run, parsePacket(Object.fromEntries(order)));
}

function checkRandomPackets(run: ContractRun): void {
  const random = new Random(3);
  for (let i = 0; i < 200; i++) {
    checkSmallest(run, drawPacket(random), (each, packet) => {
      const blob = each.encode(packet);
      // Some callers have a Buffer, others a plain Uint8Array.
      assertArrives(each, i % 2 === 0 ? Buffer.from(blob) : new Uint8Array(blob), packet);
    });
  }
}

function checkProto(run: ContractRun): void {
  const payload: JsonObject = JSON.parse('{"a":{"__proto__":{"polluted":true}}}');
  const blob = tryCall(() => run.encode({ ...fullPacket, payload }), 'encode');
  if (blob !== undefined) assertRefused(run, blob, 'a payload with a key __proto__');
}

function checkBlobsStay(run: ContractRun): void {
  const blobs = contractSamples.map(({ packet }) => run.encode(packet));
  const copies = blobs.map((blob) => Buffer.from(blob));
  for (const { packet } of contractSamples) run.reader.decode(run.encode(packet));
  blobs.forEach((blob, i) => {
    assert.ok(copies[i]?.equals(blob), `blob ${i} has changed`);
  });
}

function checkNoViews(run: ContractRun): void {
  for (const { packet } of contractSamples) {
    const blob = Buffer.from(run.encode(packet));
    const head = peekHead(run.reader, blob, 'what arrives');
    const decoded = run.reader.decode(blob);
    blob.fill(0x5a);
    assertSame(decoded, packet, 'the packet has changed with the bytes');
    if (head !== undefined) assertSame(head, copyHead(packet), 'the head has changed with the bytes');
  }
}

function checkTruncation(run: ContractRun, packet: Packet): void {
  const blob = Buffer.from(run.encode(packet));
  for (let length = 0; length < blob.length; length++)
    assertRefused(run, blob.subarray(0, length), `${length} of ${blob.length} bytes`);
}

function checkTrailingBytes(run: ContractRun, packet: Packet): void {
  const blob = run.encode(packet);
  const tails = [Buffer.of(0), Buffer.of(0x7d), Buffer.of(0xc0), Buffer.of(0xff), Buffer.from('x'), blob];
  for (const tail of tails) {
    const what = `${tail.length} bytes from 0x${tail[0]?.toString(16)} behind it`;
    assertRefused(run, Buffer.concat([blob, tail]), what);
  }
}

/** Number of bits at the start, where formats have tags and lengths, that are all flipped. */
const FLIPPED_WHOLE_BITS = 64 * 8;
/** Distance of the later bits that are flipped. It shares no factor with 8, so that every bit position of a byte has its turn. */
const FLIP_STEP = 5;

function checkBitFlips(run: ContractRun): void {
  const blob = Buffer.from(run.encode(fullPacket));
  for (let bit = 0; bit < blob.length * 8; bit += bit < FLIPPED_WHOLE_BITS ? 1 : FLIP_STEP) {
    const flipped = Buffer.from(blob);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assertSound(run, flipped, `bit ${bit & 7} of byte ${bit >> 3} flipped`);
  }
}

/** Number of blobs that a check draws; `npm run fuzz` draws as many as its time allows. */
const DRAWS = 400;

function checkRandomBytes(run: ContractRun): void {
  const random = new Random(2);
  const valid = run.encode(fullPacket);
  for (let i = 0; i < DRAWS; i++) {
    const bytes = drawBytes(random, 200);
    assertSound(run, bytes, `random blob ${i}`);
    // Decoders refuse most random bytes at the first one; behind a valid beginning they read further.
    const start = drawBelow(random, valid.length);
    assertSound(
      run,
      Buffer.concat([valid.subarray(0, start), bytes]),
      `random blob ${i} behind ${start} good bytes`,
    );
  }
}

/**
 * Checks blobs with a few bytes removed and a few others inserted in up to three places: pieces of the
 * format, of the blob itself, or any bytes.
 */
function checkDamage(run: ContractRun, pieces: readonly Buffer[]): void {
  const random = new Random(5);
  for (let i = 0; i < DRAWS; i++) {
    let blob = Buffer.from(run.encode(drawPacket(random)));
    for (let damages = drawBelow(random, 3); damages >= 0; damages--) {
      const at = drawBelow(random, blob.length);
      const put = pickPiece(blob, pieces, random);
      blob = Buffer.concat([blob.subarray(0, at), put, blob.subarray(at + drawBelow(random, 4))]);
    }
    assertSound(run, blob, `damaged packet ${i} (${blob.toString('hex', 0, 1000)})`);
  }
}

function pickPiece(blob: Buffer, pieces: readonly Buffer[], random: Random): Buffer {
  const piece = pieces[drawBelow(random, 2 * pieces.length)];
  if (piece !== undefined) return piece;
  if (random.uniform() < 0.5) return drawBytes(random, 4);
  const start = drawBelow(random, blob.length);
  return blob.subarray(start, start + drawBelow(random, 12));
}

/** A length at which a search from the start at every byte takes minutes. */
const LONG = 1 << 17;

/** Checks the time for the same bytes repeated at the start, where a payload is expected, and within one. */
function checkTime(run: ContractRun, pieces: readonly Buffer[]): void {
  const blob = Buffer.from(run.encode(fullPacket));
  const text = blob.indexOf('né ✅');
  const ends = new Set([
    0,
    1,
    2,
    9,
    Math.floor(blob.length / 2),
    blob.length - 1,
    ...(text > 9 ? [text, text - 1, text - 9] : []),
  ]);
  const repeated = [
    ...pieces,
    Buffer.of(0),
    Buffer.of(0xff),
    ...[1, 2, 3].map((length) => blob.subarray(0, length)),
  ];
  for (const piece of repeated.filter(({ length }) => length > 0)) {
    const many = Buffer.alloc(piece.length * Math.floor(LONG / piece.length), piece);
    for (const end of ends) {
      const bytes = Buffer.concat([blob.subarray(0, end), many]);
      assertSound(run, bytes, `0x${piece.toString('hex')} again and again behind ${end} bytes`);
    }
  }
}

function drawBytes(random: Random, maxLength: number): Buffer {
  return Buffer.from(Array.from({ length: drawBelow(random, maxLength) }, () => drawBelow(random, 256)));
}

function checkPure(run: ContractRun, packet: Packet): void {
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

function checkDefinition(run: ContractRun): void {
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

function checkLedger(run: ContractRun): void {
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

function checkLayerBytes(run: ContractRun): void {
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
