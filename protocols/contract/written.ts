import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { MAX_PAYLOAD_DEPTH } from '@gaia-mesh/core/contracts/limits.ts';
import {
  HEAD_LENGTHS,
  isJsonList,
  type JsonObject,
  type JsonValue,
  type Packet,
} from '@gaia-mesh/core/contracts/packet.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { drawBelow, drawPacket } from './random.ts';
import { assertArrives, assertRefused, assertSame, assertSound, type ContractRun, peekHead } from './run.ts';
import { fullPacket } from './samples.ts';

/**
 * Writes envelopes that an adapter's `encode` never would: with a key twice, in another order, with a value
 * of the wrong type. It is optional: with a writer, the suite tests how the reader handles envelopes that other
 * programs might send.
 */
export interface EnvelopeWriter {
  /**
   * Returns the bytes for `envelope`, keys in its order; undefined if the format cannot express it. A key
   * that begins with `§` is written without that, so that an object can have a key twice. `choose(n)` gives a
   * number below n, for formats that can write one value in several ways; it always gives 0 where nothing
   * depends on it.
   */
  write(envelope: JsonObject, choose: (ways: number) => number): Uint8Array | undefined;
  /** Reads a blob into an envelope for `write`. Only adapters whose envelope has other keys than the packet need it. */
  read?(blob: Uint8Array): JsonObject;
  /**
   * Writes like {@link write}, with lists nested `depth` deep in place of the text `§deep`. The depth is not
   * bounded, so it must not call itself.
   */
  nest?(envelope: JsonObject, depth: number): Uint8Array;
  /** Bytes with a meaning in the format, which the suite puts where they do not belong. */
  readonly pieces?: readonly (string | Uint8Array)[];
}

type Check = (run: ContractRun, writer: EnvelopeWriter) => void;

/** Returns the checks that need a writer. */
export function listWriterChecks(
  writer: EnvelopeWriter,
): readonly (readonly [string, (run: ContractRun) => void])[] {
  const checks: [string, Check][] = [
    ['a packet is read however it is written', checkWays],
    ['a key that comes twice is refused, in a peek too where it is of the head', checkEach(checkTwice)],
    ['a key that does not belong there is refused', checkEach(checkUnknown)],
    ['a packet without one of its keys is refused', checkEach(checkMissing)],
    ['a value of the wrong type or size is refused', checkEach(checkWrong)],
    ['a payload that no packet may have is refused', checkEach(checkPayloads)],
    ['very many keys are refused in bounded time', checkManyKeys],
  ];
  if (writer.nest !== undefined)
    checks.push(['a payload nested to the limit is read, one level more is refused', checkNesting]);
  return checks.map(([name, check]) => [name, (run) => check(run, writer)]);
}

const MARK = '\u00a7';
/** Chooses the plain way, where a format has several. */
const plainly = () => 0;

/**
 * Reads the envelope of `packet` from a new blob each time, as adapters that detect replays refuse the same
 * one twice.
 */
function readEnvelope(run: ContractRun, { read }: EnvelopeWriter, packet: Packet): JsonObject {
  const blob = run.encode(packet);
  return read === undefined ? asObject(run.reader.decode(blob)) : read(blob);
}

function asObject(packet: Packet): JsonObject {
  return JSON.parse(JSON.stringify(packet));
}

function checkWays(run: ContractRun, writer: EnvelopeWriter): void {
  const random = new Random(4);
  const choose = (ways: number) => drawBelow(random, ways);
  for (let i = 0; i < 300; i++) {
    const packet = drawPacket(random);
    const envelope = shuffleKeys(readEnvelope(run, writer, packet), packet.payload, random);
    const blob = writer.write(envelope, choose);
    if (blob !== undefined)
      assertArrives(run, i % 2 === 0 ? Buffer.from(blob) : new Uint8Array(blob), packet);
  }
}

/** Returns the envelope with the keys of every object in any order, except for the payload. */
function shuffleKeys(object: JsonObject, payload: JsonObject, random: Random): JsonObject {
  if (isDeepStrictEqual(object, payload)) return object;
  const ordered = (value: JsonValue): JsonValue => {
    if (typeof value !== 'object' || value === null) return value;
    return isJsonList(value) ? value.map(ordered) : shuffleKeys(value, payload, random);
  };
  const members = Object.entries(object).map(([key, value]) => [key, ordered(value)] as const);
  return Object.fromEntries(random.shuffle(members));
}

const { reply_to: _, tag: __, ...asked } = fullPacket;
/** A packet with all keys, and one with those of a request, which some protocols write as another message. */
const PACKETS: readonly Packet[] = [fullPacket, asked];
const OPTIONAL = ['to', 'reply_to', 'tag', 'log_uri'] as const;

function checkEach(check: (run: ContractRun, writer: EnvelopeWriter, packet: Packet) => void): Check {
  return (run, writer) => {
    for (const packet of PACKETS) check(run, writer, packet);
  };
}

function checkTwice(run: ContractRun, writer: EnvelopeWriter, packet: Packet): void {
  for (const { path, key } of listMembers(readEnvelope(run, writer, packet), packet.payload)) {
    for (const isFirst of [true, false]) {
      // The key is repeated with the same letters, and then with escaped ones if the format has escapes.
      for (const choose of [plainly, (ways: number) => ways - 1]) {
        let isHeadKey = false;
        const envelope = changeObject(readEnvelope(run, writer, packet), path, (members) => {
          const again = members
            .filter((member) => member[0] === key)
            .map(([, value]) => [MARK + key, value] as const);
          isHeadKey = again.some(([, value]) => isOfHead(packet, value));
          return isFirst ? [...again, ...members] : [...members, ...again];
        });
        const blob = writer.write(envelope, choose);
        if (blob === undefined) continue;
        const what = `${[...path, key].join('.')} twice`;
        const isBeforePayload = isFirst && isPrecedingPayload(envelope, [...path, key], packet.payload);
        if (isHeadKey && isBeforePayload && run.reader.peek !== undefined)
          assert.ok(peekHead(run.reader, blob, what) === undefined, `${what}: a peek does not refuse it`);
        assertRefused(run, blob, what);
      }
    }
  }
}

function checkUnknown(run: ContractRun, writer: EnvelopeWriter, packet: Packet): void {
  for (const path of findObjects(readEnvelope(run, writer, packet), packet.payload)) {
    for (const key of ['x', '__proto__', 'constructor', 'payloads', 'typ', 'kind', 'context_id']) {
      let isNew = false;
      const envelope = changeObject(readEnvelope(run, writer, packet), path, (members) => {
        isNew = members.every(([known]) => known !== key);
        return [[key, {}], ...members];
      });
      if (!isNew) continue;
      tryRefused(run, writer, envelope, `a key ${key} in ${path.join('.') || 'the envelope'}`);
    }
  }
}

function checkMissing(run: ContractRun, writer: EnvelopeWriter, packet: Packet): void {
  for (const { path, key } of listMembers(readEnvelope(run, writer, packet), packet.payload)) {
    const what = `${[...path, key].join('.')} missing`;
    let missing: JsonValue | undefined;
    const envelope = changeObject(readEnvelope(run, writer, packet), path, (members) => {
      missing = members.find((member) => member[0] === key)?.[1];
      return members.filter((member) => member[0] !== key);
    });
    const blob = writer.write(envelope, plainly);
    const decoded = blob && assertSound(run, blob, what);
    if (decoded === undefined) continue;
    const optional = OPTIONAL.find((name) => packet[name] !== undefined && packet[name] === missing);
    assert.ok(optional !== undefined, `${what}: was not refused`);
    const { [optional]: ___, ...rest } = packet;
    assertSame(decoded, rest, what);
  }
}

const NO_TEXTS: readonly JsonValue[] = [7, true, null, [], {}];
const NO_COUNTS: readonly JsonValue[] = [-1, 0.5, 2 ** 53, 1e300, '7', true, null, [], {}];
const WRONG: readonly (readonly [keyof Packet, readonly JsonValue[]])[] = [
  ...Object.entries({ ...HEAD_LENGTHS, reply_to: HEAD_LENGTHS.id }).map(
    ([key, length]) => [key as keyof Packet, [...NO_TEXTS, '', 'x'.repeat(length + 1)]] as const,
  ),
  ['from', ['../x', 'a b']],
  ['to', ['../x', 'a b']],
  ['log_uri', [...NO_TEXTS, 'x'.repeat(1025)]],
  ['token_used', NO_COUNTS],
  ['ts', NO_COUNTS],
];

function checkWrong(run: ContractRun, writer: EnvelopeWriter, packet: Packet): void {
  for (const [key, values] of WRONG) {
    if (packet[key] === undefined) continue;
    for (const value of values) {
      const envelope = replaceValue(readEnvelope(run, writer, packet), packet[key], value, packet.payload);
      if (envelope !== undefined) tryRefused(run, writer, envelope, `${JSON.stringify(value)} for ${key}`);
    }
  }
}

function checkPayloads(run: ContractRun, writer: EnvelopeWriter, packet: Packet): void {
  const values: JsonValue[] = [
    [],
    'x',
    7,
    null,
    true,
    ...['{"__proto__":1}', '{"a":[{"__proto__":{}}]}'].map((json) => JSON.parse(json)),
  ];
  for (const value of values) {
    const envelope = replaceValue(readEnvelope(run, writer, packet), packet.payload, value);
    if (envelope !== undefined) tryRefused(run, writer, envelope, `a payload ${JSON.stringify(value)}`);
  }
}

function checkManyKeys(run: ContractRun, writer: EnvelopeWriter): void {
  const many = Array.from({ length: 50_000 }, (_item, i): [string, JsonValue] => [`k${i}`, 0]);
  const envelope = changeObject(readEnvelope(run, writer, asked), [], (members) => [...many, ...members]);
  tryRefused(run, writer, envelope, 'very many keys');
}

function checkNesting(run: ContractRun, writer: EnvelopeWriter): void {
  const nested = (depth: number) => {
    const envelope = readEnvelope(run, writer, { ...asked, payload: { deep: `${MARK}deep` } });
    return writer.nest?.(envelope, depth) ?? assert.fail('no way to nest');
  };
  // The payload itself is a level.
  const packet = run.reader.decode(nested(MAX_PAYLOAD_DEPTH - 1));
  assertSame(JSON.stringify(packet.payload), `{"deep":${'['.repeat(63)}${']'.repeat(63)}}`, 'the payload');
  for (const depth of [MAX_PAYLOAD_DEPTH, 100_000, 1_000_000])
    assertRefused(run, nested(depth), `${depth} levels`);
}

function tryRefused(run: ContractRun, writer: EnvelopeWriter, envelope: JsonObject, what: string): void {
  const blob = writer.write(envelope, plainly);
  if (blob !== undefined) assertRefused(run, blob, what);
}

/** Path of a value in an envelope: keys, and numbers in lists. */
type Path = readonly string[];
type Member = readonly [string, JsonValue];

/** Returns the paths of the objects that have members, except for the payload and its content. */
function findObjects(value: JsonValue, payload: JsonObject, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null || isDeepStrictEqual(value, payload)) return [];
  const members = Object.entries(value);
  const inside = members.flatMap(([key, item]) => findObjects(item, payload, [...path, key]));
  return isJsonList(value) || members.length === 0 ? inside : [path, ...inside];
}

/** Returns all members of those objects. */
function listMembers(
  envelope: JsonObject,
  payload: JsonObject,
): { readonly path: Path; readonly key: string }[] {
  return findObjects(envelope, payload).flatMap((path) => {
    const object = path.reduce<JsonValue>((at, key) => Reflect.get(Object(at), key), envelope);
    return Object.keys(Object(object)).map((key) => ({ path, key }));
  });
}

/** Returns the envelope with other members in the object at `path`. */
function changeObject(
  envelope: JsonObject,
  path: Path,
  change: (members: readonly Member[]) => readonly Member[],
): JsonObject {
  const [key, ...rest] = path;
  const members = Object.entries(envelope);
  if (key === undefined) return Object.fromEntries(change(members));
  return Object.fromEntries(
    members.map(([name, value]) => [name, name === key ? changePath(value, rest, change) : value]),
  );
}

function changePath(
  value: JsonValue,
  path: Path,
  change: (members: readonly Member[]) => readonly Member[],
): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (!isJsonList(value)) return changeObject(value, path, change);
  const [index, ...rest] = path;
  return value.map((item, i) => (String(i) === index ? changePath(item, rest, change) : item));
}

/** Returns the envelope with `value` in place of every `old` outside of the payload; undefined if there was none. */
function replaceValue(
  envelope: JsonObject,
  old: unknown,
  value: JsonValue,
  payload?: JsonObject,
): JsonObject | undefined {
  let isFound = false;
  const walk = (at: JsonValue): JsonValue => {
    if (isDeepStrictEqual(at, old)) {
      isFound = true;
      return value;
    }
    if (typeof at !== 'object' || at === null || isDeepStrictEqual(at, payload)) return at;
    if (isJsonList(at)) return at.map(walk);
    return Object.fromEntries(Object.entries(at).map(([key, item]) => [key, walk(item)]));
  };
  const made = Object.fromEntries(Object.entries(envelope).map(([key, item]) => [key, walk(item)]));
  return isFound ? made : undefined;
}

function isOfHead(packet: Packet, value: JsonValue): boolean {
  const { type, from, to, id, task_id, tag, token_used } = packet;
  return [type, from, to, id, task_id, tag, token_used].some((own) => own === value);
}

/** Returns true if the member at `path` is written before the payload, so that a peek reads it. */
function isPrecedingPayload(envelope: JsonObject, path: Path, payload: JsonObject): boolean {
  const places: string[] = [];
  const walk = (value: JsonValue, at: Path) => {
    places.push(isDeepStrictEqual(value, payload) ? 'payload' : at.join('\0'));
    if (typeof value === 'object' && value !== null && !isDeepStrictEqual(value, payload))
      for (const [key, item] of Object.entries(value)) walk(item, [...at, key]);
  };
  walk(envelope, []);
  return places.indexOf(path.join('\0')) < places.indexOf('payload');
}
