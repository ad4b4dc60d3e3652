import fc from 'fast-check';
import type { Packet } from '../../core/contracts/packet.ts';
import type { Link } from '../../core/hub/link.ts';
import { MeshNetwork } from '../../core/hub/mesh-network.ts';
import { routerNamed } from '../../core/hub/routing.ts';
import { frameOf } from '../../core/wire/frame.ts';
import { adapterNamed } from '../../protocols/registry.ts';
import { MeshMember, SECRET } from './mesh-member.ts';
import { Defect, fuzzTarget } from './target.ts';

/** Looks, not time: what is missing after so many in which nothing came is lost. */
const LOOK_EVERY_MS = 20;
const MAX_QUIET_MS = 3000;

/**
 * Packets of a sender, in bursts: short ones are collected by the hub and written at the end of a turn, long ones at once, and the
 * largest have memory of their own. Between the ways one packet can overtake another.
 */
const burst = fc.record({
  packets: fc.integer({ min: 1, max: 2000 }),
  bytes: fc.constantFrom(0, 0, 10, 10, 300, 4000, 20_000, 300_000),
  /** Whether the other sender has its turn first. */
  yields: fc.boolean(),
});
const cases = fc.array(burst, { minLength: 4, maxLength: 16 });

/** Of a burst at most so many bytes. */
const MAX_BURST_BYTES = 4_000_000;
/** Long enough that a packet in ten thousand is missed. */
const MIN_PACKETS = 12_000;

/**
 * Two senders and a hearer over real sockets, thousands of packets: each sender's come whole, once and in order, and every byte that
 * the sockets moved is counted once.
 */
export const volume = fuzzTarget('volume', cases, async () => async (bursts) => {
  const members = await Promise.all(['a', 'b-2', 'c'].map((id) => MeshMember.listen(id)));
  let network: MeshNetwork | undefined;
  try {
    network = await MeshNetwork.connect({
      runId: 'fuzz',
      adapter: await adapterNamed('json'),
      secret: SECRET,
      nodes: members.map(({ id, port }) => ({ id, tool: 'fuzz', port, secret: SECRET })),
      final: null,
      router: routerNamed('broadcast'),
      observer: {},
      maxFrameBytes: 1_000_000,
    });
    await Promise.all(members.map((member) => member.joined));
    await flood(network.links, members, bursts);
  } finally {
    network?.close();
    await Promise.all(members.map((member) => member.close()));
  }
});

async function flood(
  links: readonly Link[],
  [a, b, c]: readonly MeshMember[],
  bursts: readonly { readonly packets: number; readonly bytes: number; readonly yields: boolean }[],
): Promise<void> {
  if (!a || !b || !c) throw new Defect('a member is missing');
  const sent = { a: 0, b: 0 };
  const send = async (member: MeshMember, key: 'a' | 'b', packets: number, bytes: number) => {
    const frames = Array.from({ length: packets }, () => {
      sent[key] += 1;
      return frameOf(member.encode(numbered(member.id, sent[key], bytes)));
    });
    if (!member.socket.write(Buffer.concat(frames)))
      await new Promise((resolve) => member.socket.once('drain', resolve));
  };
  for (const [index, { packets, bytes, yields }] of bursts.entries()) {
    const count = Math.max(1, Math.min(packets, Math.floor(MAX_BURST_BYTES / (bytes + 150))));
    const [key, member] = index % 2 === 0 ? (['a', a] as const) : (['b', b] as const);
    await send(member, key, count, bytes);
    if (yields) await new Promise((resolve) => setImmediate(resolve));
  }
  for (const [key, member] of [
    ['a', a],
    ['b', b],
  ] as const)
    if (sent[key] < MIN_PACKETS / 2) await send(member, key, MIN_PACKETS / 2 - sent[key], 0);
  const all = sent.a + sent.b;
  let heard = -1;
  for (let quietMs = 0; c.heard.length < all && quietMs < MAX_QUIET_MS; quietMs += LOOK_EVERY_MS) {
    if (heard !== c.heard.length) quietMs = 0;
    heard = c.heard.length;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  for (const { fault } of [a, b, c]) if (fault !== undefined) throw fault;
  check(c, a.id, sent.a);
  check(c, b.id, sent.b);
  for (const { counts, socket, node } of links) {
    const written = counts.bytesTx + counts.sessionTx;
    if (written !== socket.bytesWritten)
      throw new Defect(`to ${node.id}: ${written} bytes are counted, ${socket.bytesWritten} were written`);
    const read = counts.bytesRx + counts.sessionRx + counts.refusedBytes;
    if (read !== socket.bytesRead)
      throw new Defect(`from ${node.id}: ${read} bytes are counted, ${socket.bytesRead} were read`);
  }
}

function numbered(from: string, number: number, bytes: number): Packet {
  const payload = { text: 'x'.repeat(bytes) };
  return { type: 'note', from, id: `${from}.${number}`, task_id: 't', token_used: 0, ts: 0, payload };
}

/** Of `from` the hearer has heard 1 to `count`. */
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
