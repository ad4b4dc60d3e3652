import { isDeepStrictEqual } from 'node:util';
import type { Codec, ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import {
  HUB_ID,
  type JsonValue,
  type Packet,
  type PacketHead,
  parsePacket,
} from '@gaia-mesh/core/contracts/packet.ts';
import { openMembers } from '@gaia-mesh/core/wire/members.ts';
import type { Layer, LayerCodec } from '@gaia-mesh/protocols/layers/layer.ts';
import { findStage, layerNames, loadLayer } from '@gaia-mesh/protocols/layers/registry.ts';
import { adapterNames, loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import fc from 'fast-check';
import { anyPacket, MEMBERS } from './testing/any-packet.ts';
import { applyDamages, damages } from './testing/damage.ts';
import { Defect, fuzz, tryCall } from './testing/fuzz.ts';

const cases = fc.record({ packet: anyPacket, other: anyPacket, damages });

/**
 * Tries an adapter. Any packet must arrive unchanged. Bytes that were damaged on the way must
 * be refused with the code `packet`, or decode to a packet that survives another encoding; a peek must agree
 * with decoding. If members have keys, damaged bytes must be refused or decode to the original packet, and
 * nothing may arrive twice. Refused bytes leave no trace.
 */
function tryAdapter(name: string, spec: string): void {
  fuzz(name, cases, async () => {
    const adapter = await loadAdapter(spec);
    return ({ packet, other, damages: list }) => {
      const members = new FuzzMembers(adapter);
      const blob = members.write(packet);
      const otherBlob = members.write(other);
      const bytes = applyDamages(blob, otherBlob, list);
      const isWhole = bytes.equals(blob) || bytes.equals(otherBlob);
      const read = isWhole ? undefined : readDamaged(members, bytes, [packet, other]);
      // Another encoding of the same packet counts as having arrived.
      if (members.haveKeys && read !== undefined) return;
      expectArrives(members.reader, blob, packet);
      expectAgain(members, Buffer.from(blob), packet);
      expectArrives(members.reader, otherBlob, other);
    };
  });
}

/** The members of one run, created for every case so that no case depends on earlier ones. */
class FuzzMembers {
  readonly reader: Codec;
  readonly haveKeys: boolean;
  readonly #codecs: ReadonlyMap<string, Codec>;

  constructor(adapter: ProtocolAdapter) {
    this.#codecs = openMembers(adapter, 'fuzz', MEMBERS);
    this.haveKeys = adapter.join !== undefined && adapter.name !== 'msgpack-records';
    this.reader = this.#codecOf(HUB_ID);
  }

  /** Encodes a packet as its sender; without keys any codec can stand in for an unknown sender. */
  write(packet: Packet): Uint8Array {
    return (this.#codecs.get(packet.from) ?? this.reader).encode(packet);
  }

  #codecOf(id: string): Codec {
    const codec = this.#codecs.get(id);
    if (codec === undefined) throw new Defect(`no codec of ${id}`);
    return codec;
  }
}

function readDamaged(members: FuzzMembers, bytes: Buffer, said: readonly Packet[]): Packet | undefined {
  const { reader } = members;
  const before = Buffer.from(bytes);
  const head = tryCall('peek', bytes, () => reader.peek?.(bytes));
  const packet = tryCall('decode', bytes, () => reader.decode(bytes));
  if (!bytes.equals(before)) throw new Defect('reading has changed the bytes', before);
  if (packet === undefined) return undefined;
  tryCall('check', bytes, () => parsePacket(packet)) ?? fail('decoded to no packet', bytes);
  const lost = findLoss(packet);
  if (lost !== undefined) fail(`decoded to a packet with ${lost}`, bytes);
  if (reader.peek !== undefined && !isSame(head, toHead(packet))) {
    fail(`peek says ${JSON.stringify(head)}, decode ${JSON.stringify(toHead(packet))}`, bytes);
  }
  if (members.haveKeys) {
    if (!said.some((one) => isSame(one, packet))) fail(`forged: ${JSON.stringify(packet)}`, bytes);
  } else {
    expectArrives(reader, members.write(packet), packet);
  }
  return packet;
}

function expectArrives(reader: Codec, blob: Uint8Array, packet: Packet): void {
  const head = tryCall('peek', blob, () => reader.peek?.(blob));
  if (reader.peek !== undefined && !isSame(head, toHead(packet))) {
    fail(`peek says ${JSON.stringify(head)} of ${JSON.stringify(packet)}`, blob);
  }
  const arrived = tryCall('decode', blob, () => reader.decode(blob));
  if (!isSame(arrived ?? null, packet)) {
    fail(`${JSON.stringify(packet)} arrived as ${JSON.stringify(arrived)}`, blob);
  }
}

/** Checks repeated bytes: with keys they are refused, otherwise they give the same packet. */
function expectAgain(members: FuzzMembers, copy: Buffer, packet: Packet): void {
  if (!members.haveKeys) {
    expectArrives(members.reader, copy, packet);
  } else if (tryCall('decode', copy, () => members.reader.decode(copy)) !== undefined) {
    fail('it arrived twice', copy);
  }
}

/**
 * Finds content that no packet may hold, without using the code under test; returns undefined if there is
 * none.
 */
function findLoss(packet: Packet): string | undefined {
  let found: string | undefined;
  JSON.stringify(packet, (key, value: unknown) => {
    if (key === '__proto__') found = 'a key __proto__';
    if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed()))
      found = 'a lone surrogate';
    if (typeof value === 'number' && !Number.isFinite(value)) found = String(value);
    return value;
  });
  return found;
}

function fail(what: string, bytes: Uint8Array): never {
  throw new Defect(what, bytes);
}

/** Content to seal: noise and compressible bytes, from nothing to more than any layer stores uncompressed. */
const content = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.uint8Array({ minLength: 1000, maxLength: 1100 }),
  fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 20 }), fc.nat(400))
    .map(([piece, times]) => Buffer.concat(Array.from({ length: times }, () => piece))),
);

const layerCases = fc.record({ bytes: content, other: content, damages });

/**
 * Tries a layer. Any bytes must come out as they went in. Damaged ones must be refused with
 * the code `packet`; a layer that only compresses may unseal them to other bytes, which must survive another
 * round.
 */
function tryLayer(layerName: string): void {
  fuzz(`layer:${layerName}`, layerCases, async () => {
    const layer = await loadLayer(layerName);
    const join = (self: string) => layer.join?.({ runId: 'fuzz', self });
    const codecOf = (self: string, member: Pick<Layer, 'open'> | undefined, offers: Map<string, JsonValue>) =>
      (member ?? layer).open({ runId: 'fuzz', self, peer: 'hub', linkKey: key, runKey: key, offers });
    return ({ bytes, other, damages: list }) => {
      const [a, b] = [join('a'), join('b')];
      const offers = new Map<string, JsonValue>();
      if (a !== undefined) offers.set('a', a.offer);
      if (b !== undefined) offers.set('b', b.offer);
      const [first, second] = [codecOf('a', a, offers), codecOf('b', b, offers)];
      const sealed = first.seal(bytes);
      const otherSealed = second.seal(other);
      if (sealed.length > bytes.length + first.overheadBytes) {
        throw new Defect(`${bytes.length} bytes have become ${sealed.length}`, sealed);
      }
      const hit = applyDamages(sealed, otherSealed, list);
      const isWhole = hit.equals(sealed) || hit.equals(otherSealed);
      const opened = tryCall('unseal', hit, () => second.unseal(hit));
      tryCall('skim', hit, () => second.skim?.(hit));
      if (opened !== undefined && !isWhole) {
        const again = first.seal(Buffer.from(opened.bytes));
        const isProtected = findStage(layerName) !== 'compress';
        if (isProtected && !hit.equals(again)) throw new Defect('damage went unseen', hit);
        expectComesOut(first, again, opened.bytes);
      }
      expectComesOut(second, sealed, bytes);
      expectComesOut(first, otherSealed, other);
    };
  });
}

const key = new Uint8Array(32).fill(7);

function expectComesOut(codec: LayerCodec, sealed: Uint8Array, bytes: Uint8Array): void {
  for (const [what, unseal] of [
    ['unseal', codec.unseal],
    ['skim', codec.skim ?? codec.unseal],
  ] as const) {
    const opened = tryCall(what, sealed, () => unseal.call(codec, sealed));
    if (opened === undefined || Buffer.compare(opened.bytes, bytes) !== 0) {
      throw new Defect(`${what}: other bytes come out than went in`, sealed);
    }
  }
}

/** Compares all values. −0 counts as 0, because some formats do not keep it. */
function isSame(a: unknown, b: unknown): boolean {
  if (isDeepStrictEqual(a, b)) return true;
  return isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)));
}

function toHead({ type, from, to, id, task_id, tag, token_used }: Packet): PacketHead {
  return { type, from, to, id, task_id, tag, token_used };
}

/** Stacks of each kind: compressed, signed, encrypted, and all at once. */
const STACKS = [
  'json+zstd',
  'cbor+deflate-dict+crc32c',
  'json+ed25519',
  'toon+brotli+aes-256-gcm',
  'msgpack+zstd-dict+ed25519+chacha20-poly1305+crc32c',
];

for (const name of adapterNames) tryAdapter(`adapter:${name}`, name);
for (const name of layerNames) tryLayer(name);
for (const spec of STACKS) tryAdapter(`stack:${spec}`, spec);
