import fc from 'fast-check';
import type { Codec, ProtocolAdapter } from '../../core/adapter.ts';
import { openMembers } from '../../core/members.ts';
import { HUB_ID, type Packet, parsePacket } from '../../core/packet.ts';
import { adapterNamed } from '../../protocols/registry.ts';
import { damaged, damages } from './damage.ts';
import { anyPacket, headOf, isSame, MEMBERS } from './packets.ts';
import { attempt, Fault, type FuzzTarget, fuzzTarget } from './target.ts';

const cases = fc.record({ packet: anyPacket, other: anyPacket, damages });

/**
 * Any packet arrives as it was. Bytes that were damaged on the way are refused with the code `packet`, or are a packet that arrives
 * as it is when it is written again; a peek sees what decoding sees. Where members have keys, damaged bytes are refused or
 * say what was said, and nothing arrives twice. What was refused leaves no trace.
 */
export function adapterTarget(name: string, spec: string): FuzzTarget {
  return fuzzTarget(name, cases, async () => {
    const adapter = await adapterNamed(spec);
    return ({ packet, other, damages: list }) => {
      const members = new Members(adapter);
      const blob = members.write(packet);
      const otherBlob = members.write(other);
      const bytes = damaged(blob, otherBlob, list);
      const isWhole = bytes.equals(blob) || bytes.equals(otherBlob);
      const read = isWhole ? undefined : readDamaged(members, bytes, [packet, other]);
      // The same in other words counts as having arrived.
      if (members.haveKeys && read !== undefined) return;
      expectArrives(members.reader, blob, packet);
      expectAgain(members, Buffer.from(blob), packet);
      expectArrives(members.reader, otherBlob, other);
    };
  });
}

/** The members of one run: fresh in every case, so that no case depends on those before it. */
class Members {
  readonly reader: Codec;
  readonly haveKeys: boolean;
  readonly #codecs: ReadonlyMap<string, Codec>;

  constructor(adapter: ProtocolAdapter) {
    this.#codecs = openMembers(adapter, 'fuzz', MEMBERS);
    this.haveKeys = adapter.join !== undefined && adapter.name !== 'msgpack-records';
    this.reader = this.#codecOf(HUB_ID);
  }

  /** As its sender; where it is nobody's name and nobody has keys, anybody will do. */
  write(packet: Packet): Uint8Array {
    return (this.#codecs.get(packet.from) ?? this.reader).encode(packet);
  }

  #codecOf(id: string): Codec {
    const codec = this.#codecs.get(id);
    if (codec === undefined) throw new Fault(`no codec of ${id}`);
    return codec;
  }
}

function readDamaged(members: Members, bytes: Buffer, said: readonly Packet[]): Packet | undefined {
  const { reader } = members;
  const before = Buffer.from(bytes);
  const head = attempt('peek', bytes, () => reader.peek?.(bytes));
  const packet = attempt('decode', bytes, () => reader.decode(bytes));
  if (!bytes.equals(before)) throw new Fault('reading has changed the bytes', before);
  if (packet === undefined) return undefined;
  attempt('check', bytes, () => parsePacket(packet)) ?? fail('decoded to no packet', bytes);
  const lost = lossIn(packet);
  if (lost !== undefined) fail(`decoded to a packet with ${lost}`, bytes);
  if (reader.peek !== undefined && !isSame(head, headOf(packet))) {
    fail(`peek says ${JSON.stringify(head)}, decode ${JSON.stringify(headOf(packet))}`, bytes);
  }
  if (members.haveKeys) {
    if (!said.some((one) => isSame(one, packet))) fail(`forged: ${JSON.stringify(packet)}`, bytes);
  } else {
    expectArrives(reader, members.write(packet), packet);
  }
  return packet;
}

function expectArrives(reader: Codec, blob: Uint8Array, packet: Packet): void {
  const head = attempt('peek', blob, () => reader.peek?.(blob));
  if (reader.peek !== undefined && !isSame(head, headOf(packet))) {
    fail(`peek says ${JSON.stringify(head)} of ${JSON.stringify(packet)}`, blob);
  }
  const arrived = attempt('decode', blob, () => reader.decode(blob));
  if (!isSame(arrived ?? null, packet)) {
    fail(`${JSON.stringify(packet)} arrived as ${JSON.stringify(arrived)}`, blob);
  }
}

/** Bytes that came before: no packet twice where members have keys, and else the same one. */
function expectAgain(members: Members, copy: Buffer, packet: Packet): void {
  if (!members.haveKeys) {
    expectArrives(members.reader, copy, packet);
  } else if (attempt('decode', copy, () => members.reader.decode(copy)) !== undefined) {
    fail('it arrived twice', copy);
  }
}

/** What no packet may hold, found without the code that is under test; undefined where there is nothing of it. */
function lossIn(packet: Packet): string | undefined {
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
  throw new Fault(what, bytes);
}
