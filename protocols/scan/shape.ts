import { FINAL_ANSWER, type Packet, type PacketHead, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import { JsonScanner } from './json.ts';
import { checkHead, createHead, createPacketError, type EnvelopeKey, envelopeKeys } from './scanner.ts';

/**
 * Reader of packets from the messages of another protocol. An adapter says how it writes a packet, as an
 * object, and reading follows from that. A message written for a packet of marks shows which places hold the
 * packet's keys; everywhere else a message must equal the written one.
 */
interface Shape {
  /**
   * Reads a packet from a message.
   *
   * @param translate replaces the protocol's values with the packet's own, where they differ
   * @throws MeshError `packet`, naming the place where `value` differs from the message of the packet it
   * holds
   */
  read(value: unknown, translate?: (found: Found) => void): Packet;
}

/** Values found in the places of a packet's keys. */
type Found = { [K in EnvelopeKey]?: unknown };

const MARKS: Packet = {
  type: 'mark: type',
  from: 'mark: from',
  to: 'mark: to',
  id: 'mark: id',
  reply_to: 'mark: reply_to',
  task_id: 'mark: task_id',
  tag: FINAL_ANSWER,
  token_used: 1_000_001,
  log_uri: 'mark: log_uri',
  ts: 1_000_002,
  payload: {},
};
const keysByMark = new Map<unknown, EnvelopeKey>(envelopeKeys.map((key) => [MARKS[key], key]));

/**
 * Stands for any text where a message has a value that is not in the packet, such as a signature. Its name is
 * the kind of the value.
 */
export const ANY_TEXT = Symbol('string');
const ANY_NUMBER = Symbol('number');

/** Stands for required keys that a message lacks, so that the error names the place where they belong. */
const ANY_REQUIRED = {
  type: ANY_TEXT,
  from: ANY_TEXT,
  id: ANY_TEXT,
  task_id: ANY_TEXT,
  token_used: ANY_NUMBER,
  ts: ANY_NUMBER,
  payload: {},
};

export function createShape(write: (packet: Packet) => object): Shape {
  const root = findPlaces(write(MARKS));
  return {
    read(value, translate) {
      const found: Found = {};
      collect(root, value, found);
      translate?.(found);
      // The check for a packet comes second: a message of another form is refused first, by the place where
      // it differs.
      assertSame(write({ ...ANY_REQUIRED, ...found } as unknown as Packet), value);
      return parsePacket(found);
    },
  };
}

/** Returns the value at `path` of a message; undefined if there is none. */
export function readValue(message: unknown, ...path: readonly string[]): unknown {
  return path.reduce((at, name) => (isObject(at) ? Reflect.get(at, name) : undefined), message);
}

/** @throws MeshError `packet` if there is no text at `path` */
export function readText(message: unknown, ...path: readonly string[]): string {
  const found = readValue(message, ...path);
  if (typeof found !== 'string')
    throw createPacketError(`${path.join('.')}: expected string, received ${nameKind(found)}`);
  return found;
}

/** A place of a message; `keys` has a bit for every key of a packet that is in it. */
type ShapeNode =
  | {
      readonly kind: 'object';
      readonly members: ReadonlyMap<string, ShapeMember>;
      /** The members that hold keys. */
      readonly withKeys: readonly ShapeMember[];
      readonly keys: number;
    }
  | { readonly kind: 'list'; readonly item: ShapeNode; readonly keys: number }
  | { readonly kind: 'key'; readonly key: EnvelopeKey; readonly keys: number }
  | { readonly kind: 'other'; readonly keys: 0 };

interface ShapeMember {
  readonly name: string;
  readonly place: ShapeNode;
  readonly bit: number;
}

const OTHER: ShapeNode = { kind: 'other', keys: 0 };
const toKeyBit = (key: EnvelopeKey) => 1 << envelopeKeys.indexOf(key);
const PAYLOAD = toKeyBit('payload');
/** Keys that a peek ignores. */
const BODY_KEYS = PAYLOAD | toKeyBit('reply_to') | toKeyBit('log_uri') | toKeyBit('ts');

/**
 * Finds the places of keys in a written message. A key belongs to its last place: the search goes from the
 * end to the beginning, and `taken` are the keys that already have one.
 */
function findPlaces(written: unknown, taken = { keys: 0 }): ShapeNode {
  const key = keysByMark.get(written);
  if (key !== undefined) {
    if ((taken.keys & toKeyBit(key)) !== 0) return OTHER;
    taken.keys |= toKeyBit(key);
    return { kind: 'key', key, keys: toKeyBit(key) };
  }
  if (Array.isArray(written) && written.length === 1) {
    const item = findPlaces(written[0], taken);
    return item.keys === 0 ? OTHER : { kind: 'list', item, keys: item.keys };
  }
  if (typeof written !== 'object' || written === null || Object.keys(written).length === 0) return OTHER;
  const members = Object.entries(written)
    .filter(([, value]) => value !== undefined)
    .reverse()
    .map(([name, value]) => [name, findPlaces(value, taken)] as const);
  return createObjectPlace(members.reverse());
}

function createObjectPlace(places: readonly (readonly [string, ShapeNode])[]): ShapeNode {
  const members = places.map(([name, place], i): ShapeMember => ({ name, place, bit: 1 << i }));
  return {
    kind: 'object',
    members: new Map(members.map((member) => [member.name, member])),
    withKeys: members.filter(({ place }) => place.keys !== 0),
    keys: members.reduce((bits, { place }) => bits | place.keys, 0),
  };
}

/** Returns the places that one message has or the other. */
function mergePlaces(one: ShapeNode, other: ShapeNode): ShapeNode {
  if (one.kind !== 'object' || other.kind !== 'object')
    return one.kind === 'key' && other.kind === 'key' && one.key === other.key ? one : OTHER;
  const names = new Set([...one.members.keys(), ...other.members.keys()]);
  return createObjectPlace(
    [...names].map((name) => {
      const [first, second] = [one.members.get(name)?.place, other.members.get(name)?.place];
      return [name, first && second ? mergePlaces(first, second) : (first ?? second ?? OTHER)];
    }),
  );
}

function collect(place: ShapeNode, value: unknown, found: Found): void {
  if (place.kind === 'key') {
    if (value !== undefined) found[place.key] = value;
  } else if (place.kind === 'list') {
    if (Array.isArray(value)) collect(place.item, value[0], found);
  } else if (place.kind === 'object' && isObject(value)) {
    for (const { name, place: member } of place.withKeys) collect(member, Reflect.get(value, name), found);
  }
}

/** @throws MeshError `packet`, naming the first place where `value` differs from `expected` */
export function assertSame(expected: unknown, value: unknown): void {
  const found = findDifference(expected, value);
  if (found !== undefined)
    throw createPacketError(`${found.path.join('.')}${found.path.length > 0 ? ': ' : ''}${found.reason}`);
}

interface Difference {
  readonly path: readonly string[];
  readonly reason: string;
}

function findDifference(expected: unknown, value: unknown): Difference | undefined {
  if (expected === value || (typeof expected === 'symbol' && typeof value === expected.description))
    return undefined;
  if (!isObject(expected) || !isObject(value) || Array.isArray(expected) !== Array.isArray(value))
    return {
      path: [],
      reason: `expected ${formatDifference(expected, value)}, received ${formatDifference(value, expected)}`,
    };
  let members = 0;
  for (const name of Object.keys(expected)) {
    const item: unknown = Reflect.get(expected, name);
    if (item === undefined) continue;
    members += 1;
    const inside = findDifference(item, Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined);
    if (inside !== undefined)
      return findUnrecognized(expected, value) ?? { path: [name, ...inside.path], reason: inside.reason };
  }
  return Object.keys(value).length === members ? undefined : findUnrecognized(expected, value);
}

function findUnrecognized(expected: object, value: object): Difference | undefined {
  const isKnown = (name: string) =>
    Object.hasOwn(expected, name) && Reflect.get(expected, name) !== undefined;
  const name = Object.keys(value).find((candidate) => !isKnown(candidate));
  return name === undefined
    ? undefined
    : { path: [], reason: `unrecognized key ${JSON.stringify(name.slice(0, 64))}` };
}

/** Returns the value as text, or only its kind where the other value is of another kind. */
function formatDifference(value: unknown, other: unknown): string {
  const [kind, otherKind] = [nameKind(value), nameKind(other)];
  return kind === otherKind ? JSON.stringify(value).slice(0, 100) : kind;
}

function nameKind(value: unknown): string {
  if (typeof value === 'symbol') return value.description ?? '';
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Reads messages from bytes without their payload. */
interface JsonLook {
  /** Reads as far as keys of the head can be. It refuses members that are never written, and repeated ones. */
  peek(blob: Uint8Array): PacketHead;
  /** Refuses the same in the whole message except for its payload, since JSON.parse takes the last of two equal keys. */
  checkKeys(blob: Uint8Array): void;
}

/** Translation of a protocol's node names to those of packets. */
interface Nodes {
  from(name: string): string;
  to(name: string): string | undefined;
}

/** Creates a look at messages like the written ones; `nodes` is needed if they name nodes differently from packets. */
export function createLook(writes: readonly ((packet: Packet) => object)[], nodes?: Nodes): JsonLook {
  const root = writes.map((write) => findPlaces(write(MARKS))).reduce(mergePlaces);
  return {
    peek(blob) {
      const found = createHead();
      const scanner = new JsonScanner(blob);
      if (walk(scanner, root, found, 0)) scanner.end();
      if (typeof found.from === 'string') found.from = nodes?.from(found.from) ?? found.from;
      if (nodes !== undefined && typeof found.to === 'string') found.to = nodes.to(found.to);
      return checkHead(found);
    },
    checkKeys(blob) {
      const scanner = new JsonScanner(blob);
      walk(scanner, root, createHead(), WHOLE);
      scanner.end();
    },
  };
}

/** Bit of a key that always comes later. */
const WHOLE = 1 << 30;

/**
 * Walks as deep as the message is, whatever the bytes. Returns false if it ended at a payload with no key of
 * the head behind it.
 *
 * @param behind the keys that may stand behind this place
 */
function walk(
  scanner: JsonScanner,
  place: ShapeNode,
  found: ReturnType<typeof createHead>,
  behind: number,
): boolean {
  switch (place.kind) {
    case 'other':
      scanner.skipValue();
      return true;
    case 'key':
      if (place.keys === PAYLOAD && (behind & ~BODY_KEYS) === 0) return false;
      take(scanner, place.key, found);
      return true;
    case 'list':
      return scanner.item(() => walk(scanner, place.item, found, behind));
    case 'object': {
      let seen = 0;
      let left = place.keys;
      return scanner.members((name) => {
        const member = place.members.get(name);
        if (member === undefined)
          throw createPacketError(`a key ${JSON.stringify(name.slice(0, 64))} that has no place there`);
        if ((seen & member.bit) !== 0) throw createPacketError(`the key ${name} comes twice`);
        seen |= member.bit;
        left &= ~member.place.keys;
        return walk(scanner, member.place, found, behind | left);
      });
    }
  }
}

function take(scanner: JsonScanner, key: EnvelopeKey, found: ReturnType<typeof createHead>): void {
  if (key === 'token_used') found.token_used = scanner.value();
  else if (key === 'payload' || key === 'reply_to' || key === 'log_uri' || key === 'ts') scanner.skipValue();
  else found[key] = scanner.text();
}
