import assert from 'node:assert/strict';
import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { type JsonObject, type JsonValue, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { drawBelow } from './random.ts';
import { assertArrives, type ContractRun } from './run.ts';
import { fullPacket } from './samples.ts';
import { checkSmallest } from './smallest.ts';

/** Letters that JSON escapes, beside those that the escapes are written with. */
const LETTERS = ['\\', '\n', '"', '\u0001', 'n', 'u000a', 'é', '😀', 'h'];

const ADVICE = 'JSON.parse of Node 24 and 26 misreads keys with escapes; parseJsonText of gaia-mesh does not';

/**
 * A decoder that reads JSON with the `JSON.parse` of Node 24 or newer takes `"\n"` for `"\\"` once it has read that as a key
 * (https://github.com/nodejs/node/issues/63785).
 */
export function checkEscapedKeys(run: ContractRun): void {
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
