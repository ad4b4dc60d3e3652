import { type JsonObject, type JsonValue, type Packet, parsePacket } from '../../core/contracts/packet.ts';
import { below, type Random, randomFrom } from './random.ts';
import { assertArrives, type ContractRun } from './run.ts';
import { fullPacket } from './samples.ts';

/** Letters that JSON escapes, beside those that the escapes are written with. */
const LETTERS = ['\\', '\n', '"', '\u0001', 'n', 'u000a', 'é', '😀', 'h'];

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
  const random = randomFrom(6);
  assertEachArrives(
    run,
    Array.from({ length: 300 }, () => randomObject(random, 2)),
  );
}

function assertEachArrives(run: ContractRun, payloads: readonly JsonObject[]): void {
  for (const payload of payloads) {
    const packet: Packet = parsePacket({ ...fullPacket, payload });
    assertArrives(run, run.encode(packet), packet);
  }
}

function randomObject(random: Random, depth: number): JsonObject {
  const keys = Array.from({ length: below(random, 4) }, () => randomKey(random));
  return Object.fromEntries(keys.map((key): [string, JsonValue] => [key, randomValue(random, depth)]));
}

function randomKey(random: Random): string {
  return Array.from({ length: below(random, 4) }, () => LETTERS[below(random, LETTERS.length)]).join('');
}

function randomValue(random: Random, depth: number): JsonValue {
  if (depth === 0 || random() < 0.4) return below(random, 300);
  if (random() < 0.7) return randomObject(random, depth - 1);
  return Array.from({ length: below(random, 3) }, () => randomObject(random, depth - 1));
}
