import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { type Packet, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import type { Link } from '@gaia-mesh/core/hub/link.ts';
import { encodeFrame } from '@gaia-mesh/core/wire/frame.ts';
import fc from 'fast-check';
import { anyPacket } from './testing/any-packet.ts';
import { applyDamages, bytes, type Damage, damages } from './testing/damage.ts';
import { Defect, fuzz } from './testing/fuzz.ts';
import { type MeshMember, useMesh } from './testing/mesh-member.ts';
import { splitFrames } from './testing/split-frames.ts';

const MAX_FRAME_BYTES = 64 * 1024;
/** Maximum wait: a busy machine takes its time; a stopped hub takes for ever. */
const MAX_WAIT_MS = 10_000;
const HOSTILE = 'b-2';

const cases = fc.record({
  adapter: fc.constantFrom(
    'json',
    'msgpack',
    'cbor+zstd',
    'a2a',
    'json+ed25519',
    'toon+aes-256-gcm',
    'protobuf+crc32c',
  ),
  actions: fc.array(createActionArbitrary(HOSTILE), { maxLength: 12 }),
  final: fc.constantFrom(null, 'a', HOSTILE),
  routing: fc.constantFrom('broadcast', 'direct'),
  ending: fc.constantFrom('stay', 'hang up'),
});
type HubCase = typeof cases extends fc.Arbitrary<infer C> ? C : never;

/**
 * A live hub with an honest pair and a hostile member, over real sockets: whatever the hostile member writes,
 * packets of the honest ones must arrive in order, and every byte that the sockets moved must be on one of
 * the hub's counters.
 */
fuzz('hub', cases, async () => (one) => {
  const { adapter, final, routing } = one;
  const mesh = { ids: ['a', 'c', HOSTILE], adapter, final, routing, maxFrameBytes: MAX_FRAME_BYTES };
  return useMesh(mesh, (links, members) => exchange(links, members, one));
});

async function exchange(links: readonly Link[], members: readonly MeshMember[], one: HubCase): Promise<void> {
  const [a, c, hostile] = members;
  const [linkA, linkC, hostileLink] = links;
  if (!a || !c || !hostile || !linkA || !linkC || !hostileLink) throw new Defect('a member is missing');
  const sessionRx = hostileLink.counts.sessionRx;
  const written = one.actions.map((each) => encodeAction(hostile, each));
  // Honest packets go between the actions, so that hub and codecs have processed each action.
  const fromA = [0, 1, 2].map((n) => note('a', n));
  const fromC = [0, 1, 2].map((n) => note('c', n));
  for (let turn = 0; turn < 3; turn++) {
    const third = Math.ceil(written.length / 3);
    hostile.socket.write(Buffer.concat(written.slice(turn * third, (turn + 1) * third)));
    a.socket.write(encodeFrame(a.encode(fromA[turn] ?? note('a', turn))));
    c.socket.write(encodeFrame(c.encode(fromC[turn] ?? note('c', turn))));
    await nextTurn();
  }
  if (one.ending === 'hang up') hostile.socket.end();
  await pollUntil('the honest members do not hear each other', () => isHeard(c, fromA) && isHeard(a, fromC));
  const stream = Buffer.concat(written);
  const { blobs, isViolated } = splitFrames(stream, MAX_FRAME_BYTES);
  const stays = one.ending === 'stay' && !isViolated;
  await pollUntil('the hub has stopped reading', () =>
    stays ? hostileLink.socket.bytesRead - sessionRx === hostile.bytesWritten : !hostileLink.alive,
  );
  for (const { fault } of members) if (fault !== undefined) throw fault;
  const wholeBytes = blobs.reduce((sum, blob) => sum + 4 + blob.length, 0);
  const { counts } = hostileLink;
  expectEqual(
    'bytes of the hostile member',
    counts.bytesRx + counts.refusedBytes + counts.sessionRx - sessionRx,
    wholeBytes,
    stream,
  );
  if (isViolated && hostileLink.fault?.code !== 'frame') throw new Defect('a violation went unseen', stream);
  for (const { alive, counts, socket } of [linkA, linkC]) {
    if (!alive) throw new Defect('an honest member was cut off', stream);
    expectEqual('bytes written', counts.bytesTx + counts.sessionTx, socket.bytesWritten, stream);
    expectEqual(
      'bytes read',
      counts.bytesRx + counts.sessionRx + counts.refusedBytes,
      socket.bytesRead,
      stream,
    );
  }
}

function note(from: string, n: number): Packet {
  const to = from === 'a' ? 'c' : 'a';
  return parsePacket({
    type: 'honest',
    from,
    to,
    id: `${from}-${n}`,
    task_id: 't',
    token_used: n,
    ts: n,
    payload: { n },
  });
}

function isHeard(member: MeshMember, packets: readonly Packet[]): boolean {
  const ids = member.heard.filter(({ type }) => type === 'honest').map(({ id }) => id);
  return packets.every(({ id }, i) => ids[i] === id);
}

async function pollUntil(what: string, isSo: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + MAX_WAIT_MS;
  while (!isSo()) {
    if (performance.now() > deadlineMs) throw new Defect(what);
    await sleep(1);
  }
}

function expectEqual(what: string, counted: number, moved: number, stream: Uint8Array): void {
  if (counted !== moved) throw new Defect(`${what}: ${counted} are counted, ${moved} were moved`, stream);
}

/** A write of the hostile member: a good packet, a damaged one, or bytes that are no frame at all. */
interface Action {
  readonly packet: Packet;
  readonly damages: readonly Damage[];
  readonly raw: Uint8Array;
  readonly kind: 'packet' | 'damaged' | 'raw';
}

function createActionArbitrary(from: string): fc.Arbitrary<Action> {
  return fc.record({
    packet: fc
      .tuple(anyPacket, fc.constantFrom('mesh.books', 'mesh.settle', 'doc_init', 'note'))
      .map(([packet, type]) => ({ ...packet, type, from })),
    damages,
    raw: fc.oneof(
      bytes,
      fc.constantFrom('00000000', '00010001', '7fffffff', 'ffffffff').map((hex) => Buffer.from(hex, 'hex')),
    ),
    kind: fc.constantFrom('packet', 'damaged', 'damaged', 'damaged', 'raw'),
  });
}

/** Encodes an action as frames, except raw bytes. */
function encodeAction(member: MeshMember, { kind, packet, damages: list, raw }: Action): Uint8Array {
  if (kind === 'raw') return raw;
  const blob = member.encode(packet);
  return encodeFrame(kind === 'packet' ? blob : applyDamages(blob, member.encode(packet), list));
}
