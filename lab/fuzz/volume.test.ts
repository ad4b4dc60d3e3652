import { once } from 'node:events';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { Link } from '@gaia-mesh/core/hub/link.ts';
import { encodeFrame } from '@gaia-mesh/core/wire/frame.ts';
import fc from 'fast-check';
import { Defect, fuzz } from './testing/fuzz.ts';
import { type MeshMember, useMesh } from './testing/mesh-member.ts';

/** Interval of checks, and the silence after which missing packets are lost; checks are counted, not time. */
const LOOK_EVERY_MS = 20;
const MAX_QUIET_MS = 3000;

/**
 * Packets of a sender, in bursts: the hub collects short ones and writes them at the end of a turn, writes
 * long ones at once, and gives the largest their own memory. A packet could overtake another between these
 * ways.
 */
const burst = fc.record({
  packets: fc.integer({ min: 1, max: 2000 }),
  bytes: fc.constantFrom(0, 0, 10, 10, 300, 4000, 20_000, 300_000),
  /** True to let the other sender have its turn first. */
  yields: fc.boolean(),
});
const cases = fc.array(burst, { minLength: 4, maxLength: 16 });

/** Maximum bytes of a burst. */
const MAX_BURST_BYTES = 4_000_000;
/** Minimum packets of a case: enough to miss one packet in ten thousand. */
const MIN_PACKETS = 12_000;

/** Each case has at least twelve thousand packets, so that a lost one in ten thousand, or a wrong byte in a thousand, is found for certain. */
const RUNS = 6;

/**
 * Two senders and a receiver over real sockets, with thousands of packets: each sender's packets must arrive
 * whole, once and in order, and every byte that the sockets moved must be counted once.
 */
fuzz(
  'volume',
  cases,
  async () => async (bursts) => {
    const mesh = { ids: ['a', 'b-2', 'c'], adapter: 'json', routing: 'broadcast' as const };
    return useMesh({ ...mesh, final: null, maxFrameBytes: 1_000_000 }, (links, members) =>
      flood(links, members, bursts),
    );
  },
  RUNS,
);

async function flood(
  links: readonly Link[],
  [a, b, c]: readonly MeshMember[],
  bursts: readonly { readonly packets: number; readonly bytes: number; readonly yields: boolean }[],
): Promise<void> {
  if (!a || !b || !c) throw new Defect('a member is missing');
  const [first, second] = [new Sender(a), new Sender(b)];
  for (const [index, { packets, bytes, yields }] of bursts.entries()) {
    const count = Math.max(1, Math.min(packets, Math.floor(MAX_BURST_BYTES / (bytes + 150))));
    await (index % 2 === 0 ? first : second).send(count, bytes);
    if (yields) await nextTurn();
  }
  for (const sender of [first, second])
    if (sender.sent < MIN_PACKETS / 2) await sender.send(MIN_PACKETS / 2 - sender.sent, 0);
  const all = first.sent + second.sent;
  let heard = -1;
  for (let quietMs = 0; c.heard.length < all && quietMs < MAX_QUIET_MS; quietMs += LOOK_EVERY_MS) {
    if (heard !== c.heard.length) quietMs = 0;
    heard = c.heard.length;
    await sleep(LOOK_EVERY_MS);
  }
  for (const { fault } of [a, b, c]) if (fault !== undefined) throw fault;
  check(c, a.id, first.sent);
  check(c, b.id, second.sent);
  for (const { counts, socket, node } of links) {
    const written = counts.bytesTx + counts.sessionTx;
    if (written !== socket.bytesWritten)
      throw new Defect(`to ${node.id}: ${written} bytes are counted, ${socket.bytesWritten} were written`);
    const read = counts.bytesRx + counts.sessionRx + counts.refusedBytes;
    if (read !== socket.bytesRead)
      throw new Defect(`from ${node.id}: ${read} bytes are counted, ${socket.bytesRead} were read`);
  }
}

/** A member that numbers its packets, from 1. */
class Sender {
  readonly #member: MeshMember;
  sent = 0;

  constructor(member: MeshMember) {
    this.#member = member;
  }

  /** Sends `packets` packets in one write. */
  async send(packets: number, bytes: number): Promise<void> {
    const { socket, id } = this.#member;
    const frames = Array.from({ length: packets }, () => {
      this.sent += 1;
      return encodeFrame(this.#member.encode(createNumberedPacket(id, this.sent, bytes)));
    });
    if (!socket.write(Buffer.concat(frames))) await once(socket, 'drain');
  }
}

function createNumberedPacket(from: string, number: number, bytes: number): Packet {
  const payload = { text: 'x'.repeat(bytes) };
  return { type: 'note', from, id: `${from}.${number}`, task_id: 't', token_used: 0, ts: 0, payload };
}

/** Checks that the receiver has packets 1 to `count` from `from`. */
function check({ heard }: MeshMember, from: string, count: number): void {
  let expected = 1;
  for (const packet of heard) {
    if (packet.from !== from) continue;
    if (packet.id !== `${from}.${expected}`)
      throw new Defect(`of ${from} packet ${packet.id} came where ${expected} was next`);
    expected += 1;
  }
  if (expected !== count + 1) throw new Defect(`of ${from} ${expected - 1} packets came of ${count}`);
}
