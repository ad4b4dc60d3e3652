import {
  HUB_ID,
  type JsonObject,
  type JsonValue,
  type Packet,
  parsePacket,
} from '@gaia-mesh/core/contracts/packet.ts';
import type { Random } from '@gaia-mesh/core/system/random.ts';

/** A whole number from 0 to `count` − 1, which may be beyond 32 bits; 0 where there is none. */
export function below(random: Random, count: number): number {
  return Math.floor(random.uniform() * count);
}

/** Who random packets are from and for: adapters that sign write for members of a run only. */
export const RANDOM_NODES = ['a', 'b-2', 'extractor.1', 'did:key:w', '0'.repeat(64)];

/** A valid packet, its keys in any order. */
export function randomPacket(random: Random): Packet {
  const maybe = <T>(make: () => T): T | undefined => (random.uniform() < 0.5 ? make() : undefined);
  const keys = {
    type: randomText(random, 1),
    from: oneOf(random, RANDOM_NODES),
    to: maybe(() => oneOf(random, [...RANDOM_NODES, HUB_ID])),
    id: randomText(random, 1),
    reply_to: maybe(() => randomText(random, 1)),
    task_id: randomText(random, 1),
    tag: maybe(() => randomText(random, 1)),
    token_used: randomCount(random),
    log_uri: maybe(() => randomText(random, 0)),
    ts: randomCount(random),
    payload: randomObject(random, 3),
  };
  const entries = Object.entries(keys).filter(([, value]) => value !== undefined);
  return parsePacket(Object.fromEntries(random.shuffle(entries)));
}

function oneOf<T>(random: Random, items: readonly T[]): T {
  const item = items[below(random, items.length)];
  if (item === undefined) throw new Error('there is nothing to choose from');
  return item;
}

const TEXTS = [
  'triples',
  'doc_init',
  'constructor',
  'toJSON',
  '__proto__',
  '"',
  '\\',
  '\n',
  ' x ',
  'é',
  '\ufeff',
  '-1',
  'null',
];

/** Mostly letters that mean something to some format, or code points from anywhere in Unicode. */
function randomText(random: Random, minLength: number): string {
  if (random.uniform() < 0.3) return oneOf(random, TEXTS);
  const limit = oneOf(random, [0x80, 0x800, 0x1_0000, 0x11_0000]);
  const length = minLength + below(random, 30);
  return Array.from({ length }, () => String.fromCodePoint(below(random, limit)))
    .join('')
    .toWellFormed();
}

function randomCount(random: Random): number {
  return below(random, oneOf(random, [30, 300, 70_000, 2 ** 32 + 10, Number.MAX_SAFE_INTEGER]));
}

function randomObject(random: Random, depth: number): JsonObject {
  const members = Array.from({ length: below(random, 5) }, () => [
    randomKey(random),
    randomValue(random, depth),
  ]);
  return Object.fromEntries(members);
}

/**
 * No packet may hold the key `__proto__`. And none here has a backslash: a decoder that misreads escaped keys would fail at random places,
 * where the check that tries them says what is wrong.
 */
function randomKey(random: Random): string {
  return randomText(random, 0).replace('__proto__', 'prototype').replaceAll('\\', '/');
}

function randomValue(random: Random, depth: number): JsonValue {
  switch (below(random, depth > 0 ? 7 : 5)) {
    case 0:
      return randomText(random, 0);
    case 1:
      return randomCount(random) * (random.uniform() < 0.5 ? 1 : -1) || 0;
    case 2:
      return (random.uniform() - 0.5) * 10 ** below(random, 300);
    case 3:
      return Math.fround(random.uniform());
    case 4:
      return oneOf(random, [true, false, null]);
    case 5:
      return Array.from({ length: below(random, 4) }, () => randomValue(random, depth - 1));
    default:
      return randomObject(random, depth - 1);
  }
}
