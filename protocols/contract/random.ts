import {
  HUB_ID,
  type JsonObject,
  type JsonValue,
  type Packet,
  parsePacket,
} from '@gaia-mesh/core/contracts/packet.ts';
import type { Random } from '@gaia-mesh/core/system/random.ts';

/** Returns a whole number from 0 to `count` − 1, which may be beyond 32 bits; 0 if `count` is 0. */
export function drawBelow(random: Random, count: number): number {
  return Math.floor(random.uniform() * count);
}

/** Senders and addressees of random packets, which are members of the run because some adapters sign only for members. */
export const RANDOM_NODES = ['a', 'b-2', 'extractor.1', 'did:key:w', '0'.repeat(64)];

/** Returns a valid packet, its keys in any order. */
export function drawPacket(random: Random): Packet {
  const maybe = <T>(make: () => T): T | undefined => (random.uniform() < 0.5 ? make() : undefined);
  const keys = {
    type: drawText(random, 1),
    from: drawItem(random, RANDOM_NODES),
    to: maybe(() => drawItem(random, [...RANDOM_NODES, HUB_ID])),
    id: drawText(random, 1),
    reply_to: maybe(() => drawText(random, 1)),
    task_id: drawText(random, 1),
    tag: maybe(() => drawText(random, 1)),
    token_used: drawCount(random),
    log_uri: maybe(() => drawText(random, 0)),
    ts: drawCount(random),
    payload: drawObject(random, 3),
  };
  const entries = Object.entries(keys).filter(([, value]) => value !== undefined);
  return parsePacket(Object.fromEntries(random.shuffle(entries)));
}

function drawItem<T>(random: Random, items: readonly T[]): T {
  const item = items[drawBelow(random, items.length)];
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

/** Returns one of the texts that some format treats specially, or random code points from ASCII up to all of Unicode. */
function drawText(random: Random, minLength: number): string {
  if (random.uniform() < 0.3) return drawItem(random, TEXTS);
  const limit = drawItem(random, [0x80, 0x800, 0x1_0000, 0x11_0000]);
  const length = minLength + drawBelow(random, 30);
  return Array.from({ length }, () => String.fromCodePoint(drawBelow(random, limit)))
    .join('')
    .toWellFormed();
}

function drawCount(random: Random): number {
  return drawBelow(random, drawItem(random, [30, 300, 70_000, 2 ** 32 + 10, Number.MAX_SAFE_INTEGER]));
}

function drawObject(random: Random, depth: number): JsonObject {
  const members = Array.from({ length: drawBelow(random, 5) }, () => [
    drawKey(random),
    drawValue(random, depth),
  ]);
  return Object.fromEntries(members);
}

/**
 * Returns a key without `__proto__`, which no packet may hold, and without a backslash: a decoder that
 * misreads escaped keys would fail at random places, while the check for escaped keys names the error.
 */
function drawKey(random: Random): string {
  return drawText(random, 0).replace('__proto__', 'prototype').replaceAll('\\', '/');
}

function drawValue(random: Random, depth: number): JsonValue {
  switch (drawBelow(random, depth > 0 ? 7 : 5)) {
    case 0:
      return drawText(random, 0);
    case 1:
      return drawCount(random) * (random.uniform() < 0.5 ? 1 : -1) || 0;
    case 2:
      return (random.uniform() - 0.5) * 10 ** drawBelow(random, 300);
    case 3:
      return Math.fround(random.uniform());
    case 4:
      return drawItem(random, [true, false, null]);
    case 5:
      return Array.from({ length: drawBelow(random, 4) }, () => drawValue(random, depth - 1));
    default:
      return drawObject(random, depth - 1);
  }
}
