import assert from 'node:assert/strict';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import {
  isJsonList,
  type JsonObject,
  type JsonValue,
  type Packet,
  parsePacket,
  shortenReason,
} from '@gaia-mesh/core/contracts/packet.ts';
import type { ContractRun } from './run.ts';

/**
 * Maximum number of tries: enough to halve large packets, and then for some hundred small steps. Adapters
 * that derive keys take longest for one.
 */
const MAX_TRIES = 1000;
const MAX_SEARCH_MS = 2000;
const MAX_SHOWN = 600;
/** Maximum number of members and items that are tried one by one; longer lists are halved. */
const MAX_SINGLES = 20;

/**
 * Runs the check on the packet. If it fails, the check runs on smaller and smaller packets, each in a run of
 * its own. The error of the smallest packet that still fails is thrown, together with that packet.
 */
export function checkSmallest(
  run: ContractRun,
  packet: Packet,
  check: (run: ContractRun, packet: Packet) => void,
): void {
  try {
    check(run, packet);
  } catch (error) {
    const found = shrinkFailure(packet, (candidate) => check(run.again(), candidate));
    // The packet fails only after other packets on the same run, not in a fresh one.
    if (found === undefined) throw error;
    const text = JSON.stringify(found.packet);
    const isLong = text.length > MAX_SHOWN;
    const shown = isLong ? `${text.slice(0, MAX_SHOWN).toWellFormed()}… (${text.length} characters)` : text;
    assert.fail(`${shortenReason(found.reason)}; the smallest packet found that shows it: ${shown}`);
  }
}

interface Failure {
  readonly packet: Packet;
  readonly reason: string;
}

function shrinkFailure(packet: Packet, check: (packet: Packet) => void): Failure | undefined {
  const end = performance.now() + MAX_SEARCH_MS;
  let tries = 0;
  let smallest = tryPacket(packet, check);
  for (let found = smallest; found !== undefined; ) {
    smallest = found;
    found = undefined;
    for (const candidate of shrinkPacket(smallest.packet)) {
      tries += 1;
      if (tries > MAX_TRIES || performance.now() > end) return smallest;
      found = isValid(candidate) ? tryPacket(candidate, check) : undefined;
      if (found !== undefined) break;
    }
  }
  return smallest;
}

function tryPacket(packet: Packet, check: (packet: Packet) => void): Failure | undefined {
  try {
    check(packet);
    return undefined;
  } catch (error) {
    return { packet, reason: toErrorMessage(error) };
  }
}

function isValid(packet: Packet): boolean {
  try {
    parsePacket(packet);
    return true;
  } catch (error) {
    if (error instanceof MeshError) return false;
    throw error;
  }
}

const OPTIONAL = ['to', 'reply_to', 'tag', 'log_uri'] as const;
const PLAIN = { type: 't', from: 'a', id: '1', task_id: 't', token_used: 0, ts: 0 } as const;

/** Yields packets that are a step smaller, the greatest steps first. Each step can be taken a bounded number of times. */
function* shrinkPacket(packet: Packet): Generator<Packet> {
  for (const payload of shrinkObject(packet.payload)) yield { ...packet, payload };
  for (const key of OPTIONAL) {
    const { [key]: dropped, ...rest } = packet;
    if (dropped !== undefined) yield rest;
  }
  for (const [key, plain] of Object.entries(PLAIN)) {
    const value: unknown = Reflect.get(packet, key);
    if (value === plain) continue;
    yield { ...packet, [key]: plain };
    if (typeof value === 'string' && value.length > 1)
      for (const text of shrinkText(value)) yield { ...packet, [key]: text };
  }
  for (const key of OPTIONAL) {
    const value = packet[key];
    if (value !== undefined) for (const text of shrinkText(value)) yield { ...packet, [key]: text };
  }
}

function* shrinkObject(object: JsonObject): Generator<JsonObject> {
  const members = Object.entries(object);
  for (const fewer of dropItems(members)) yield Object.fromEntries(fewer);
  for (const [at, [key, value]] of members.slice(0, MAX_SINGLES).entries()) {
    const changed = (member: [string, JsonValue]) => Object.fromEntries(members.with(at, member));
    for (const smaller of shrinkValue(value)) yield changed([key, smaller]);
    for (const text of shrinkText(key))
      if (text !== '' && !Object.hasOwn(object, text)) yield changed([text, value]);
  }
}

function* shrinkValue(value: JsonValue): Generator<JsonValue> {
  if (value === 0) return;
  yield 0;
  if (typeof value === 'string') {
    yield* shrinkText(value);
  } else if (isJsonList(value)) {
    yield* dropItems(value);
    for (const [at, item] of value.slice(0, MAX_SINGLES).entries())
      for (const smaller of shrinkValue(item)) yield value.with(at, smaller);
  } else if (typeof value === 'object' && value !== null) {
    yield* Object.values(value).slice(0, MAX_SINGLES);
    yield* shrinkObject(value);
  }
}

function* shrinkText(text: string): Generator<string> {
  const letters = [...text];
  if (letters.length === 0) return;
  for (const fewer of dropItems(letters)) yield fewer.join('');
}

/** Yields no items, each half, and all items but one. */
function* dropItems<T>(items: readonly T[]): Generator<T[]> {
  if (items.length === 0) return;
  yield [];
  const middle = items.length >> 1;
  if (middle > 0) {
    yield items.slice(0, middle);
    yield items.slice(middle);
  }
  if (items.length > 2 && items.length <= MAX_SINGLES)
    for (let at = 0; at < items.length; at++) yield items.toSpliced(at, 1);
}
