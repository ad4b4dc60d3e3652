import assert from 'node:assert/strict';
import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import {
  copyHead,
  type JsonObject,
  type JsonValue,
  type Packet,
  parsePacket,
} from '@gaia-mesh/core/contracts/packet.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import * as damage from './damage.ts';
import { drawBelow, drawPacket } from './random.ts';
import { assertArrives, assertRefused, type ContractRun, openRun, peekHead, tryCall } from './run.ts';
import { assertSame } from './same.ts';
import { contractSamples, fullPacket } from './samples.ts';
import * as sizes from './sizes.ts';
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
        [
          `headerSize is pure: ${name}`,
          (run: ContractRun) => checkSmallest(run, packet, sizes.checkPure),
        ] as const,
    ),
    ['headerSize is the ledger definition', sizes.checkDefinition],
    ['every byte is on one line of the ledger', sizes.checkLedger],
    ['layers add the same to every packet, and never more', sizes.checkLayerBytes],
    ['a blob that was handed out is not written again', checkBlobsStay],
    ['a decoded packet keeps nothing of the bytes it came in', checkNoViews],
    ['a blob cut at any byte is refused', (run) => checkSmallest(run, fullPacket, damage.checkTruncation)],
    [
      'bytes behind the packet are refused',
      (run) => checkSmallest(run, fullPacket, damage.checkTrailingBytes),
    ],
    ['a flipped bit is refused or gives another valid packet', damage.checkBitFlips],
    ['random bytes are refused', damage.checkRandomBytes],
    [
      'a damaged packet is never peeked otherwise than it is decoded',
      (run) => damage.checkDamage(run, pieces),
    ],
    ['whatever the bytes, they take time by the byte', (run) => damage.checkTime(run, pieces)],
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
