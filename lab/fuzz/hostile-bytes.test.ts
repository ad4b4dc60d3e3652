import { once } from 'node:events';
import net from 'node:net';
import { MAX_FRAME_BYTES, MAX_PENDING_HANDSHAKES } from '@gaia-mesh/core/contracts/limits.ts';
import { type Packet, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import { MeshNetwork } from '@gaia-mesh/core/hub/mesh-network.ts';
import { createRouter } from '@gaia-mesh/core/hub/routing.ts';
import { startMesh, toolOf } from '@gaia-mesh/core/testing/mesh.ts';
import { encodeFrame } from '@gaia-mesh/core/wire/frame.ts';
import { json } from '@gaia-mesh/protocols/json.ts';
import { expect, onTestFinished, test } from 'vitest';
import { MeshMember, SECRET } from './mesh-member.ts';

// Bytes that a member of a run, or a stranger, may write on purpose: what they cost the others, who did nothing.

const MIB = 1024 * 1024;
const WAIT = { timeout: 60_000, interval: 5 };

/** A live hub between members that write whatever bytes they like. */
async function meshOf(ids: readonly string[], maxFrameBytes = MAX_FRAME_BYTES) {
  const members = await Promise.all(ids.map((id) => MeshMember.listen(id)));
  const refused: string[] = [];
  const network = await MeshNetwork.connect({
    runId: 'hostile',
    adapter: json,
    secret: SECRET,
    nodes: members.map(({ id, port }) => ({ id, tool: 'fuzz', port, secret: SECRET })),
    final: null,
    router: createRouter('broadcast'),
    observer: { refused: (node, reason, bytes) => refused.push(`${node}: ${reason} (${bytes} B)`) },
    maxFrameBytes,
  });
  await Promise.all(members.map((member) => member.joined));
  onTestFinished(async () => {
    network.close();
    await Promise.all(members.map((member) => member.close()));
  });
  const memberOf = (id: string) => {
    const found = members.find((member) => member.id === id);
    if (found === undefined) throw new Error(`no member ${id}`);
    return found;
  };
  const linkOf = (id: string) => {
    const found = network.links.find(({ node }) => node.id === id);
    if (found === undefined) throw new Error(`no link of ${id}`);
    return found;
  };
  return { memberOf, linkOf, refused };
}

function note(from: string, number: number, text = ''): Packet {
  return parsePacket({
    type: 'note',
    from,
    id: `${from}-${number}`,
    task_id: 't',
    token_used: 0,
    ts: 0,
    payload: { text },
  });
}

function framed(member: MeshMember, packet: Packet): Buffer {
  return encodeFrame(member.encode(packet));
}

function heardFrom(member: MeshMember, from: string): number {
  return member.heard.filter((packet) => packet.from === from).length;
}

test('a frame that comes a byte at a time delays nobody else, and arrives whole', async () => {
  const { memberOf, linkOf } = await meshOf(['slow', 'a', 'b']);
  const [slow, a, b] = [memberOf('slow'), memberOf('a'), memberOf('b')];
  const drip = framed(slow, note('slow', 1, 'drop by drop'));

  for (const [i, byte] of drip.entries()) {
    slow.socket.write(Buffer.of(byte));
    a.socket.write(framed(a, note('a', i)));
    await expect.poll(() => heardFrom(b, 'a'), WAIT).toBe(i + 1);
    if (i + 1 < drip.length) expect(linkOf('slow').counts.packetsRx).toBe(0);
  }

  await expect.poll(() => [heardFrom(a, 'slow'), heardFrom(b, 'slow')], WAIT).toEqual([1, 1]);
  expect(linkOf('slow').counts).toMatchObject({ packetsRx: 1, bytesRx: drip.length, refusedPackets: 0 });
});

test('a frame of no bytes is refused and counted, and its link stays', async () => {
  const { memberOf, linkOf, refused } = await meshOf(['a', 'b']);
  const a = memberOf('a');

  a.socket.write(Buffer.concat([Buffer.alloc(12), framed(a, note('a', 1))]));

  await expect.poll(() => heardFrom(memberOf('b'), 'a'), WAIT).toBe(1);
  expect(refused).toHaveLength(3);
  expect(refused[0]).toMatch(/^a: .*\(4 B\)$/);
  expect(linkOf('a').counts).toMatchObject({ refusedPackets: 3, refusedBytes: 12, packetsRx: 1 });
});

test('a frame of the largest length passes; a byte more ends the link it came on, and no other', async () => {
  const { memberOf, linkOf } = await meshOf(['a', 'b', 'c'], 2000);
  const [a, b, c] = [memberOf('a'), memberOf('b'), memberOf('c')];
  const room = 2000 - a.encode(note('a', 1)).length;

  a.socket.write(framed(a, note('a', 1, 'x'.repeat(room))));
  await expect.poll(() => heardFrom(b, 'a'), WAIT).toBe(1);
  a.socket.write(framed(a, note('a', 1, 'x'.repeat(room + 1))));
  await expect.poll(() => linkOf('a').alive, WAIT).toBe(false);
  c.socket.write(framed(c, note('c', 1)));

  await expect.poll(() => heardFrom(b, 'c'), WAIT).toBe(1);
  expect(linkOf('a').fault).toMatchObject({ code: 'frame', message: expect.stringContaining('2001 bytes') });
  expect(heardFrom(b, 'a')).toBe(1);
});

test('lengths that are announced take no memory: 4 GiB end their link, 64 MiB wait for bytes', async () => {
  const ids = ['huge', ...Array.from({ length: 16 }, (_, i) => `large-${i}`), 'b', 'c'];
  const { memberOf, linkOf } = await meshOf(ids);
  const largest = Buffer.alloc(4);
  largest.writeUInt32BE(MAX_FRAME_BYTES);
  const [b, c] = [memberOf('b'), memberOf('c')];
  const before = process.memoryUsage();

  memberOf('huge').socket.write(Buffer.from('ffffffff', 'hex'));
  for (const id of ids.slice(1, 17)) memberOf(id).socket.write(Buffer.concat([largest, Buffer.alloc(100)]));
  await expect.poll(() => linkOf('huge').alive, WAIT).toBe(false);
  for (const id of ids.slice(1, 17)) {
    const { socket, counts } = linkOf(id);
    await expect.poll(() => socket.bytesRead, WAIT).toBe(counts.sessionRx + 104);
  }
  b.socket.write(framed(b, note('b', 1)));
  await expect.poll(() => heardFrom(c, 'b'), WAIT).toBe(1);

  const after = process.memoryUsage();
  expect(linkOf('huge').fault).toMatchObject({ code: 'frame' });
  // Announced: 5 GiB.
  expect(after.external - before.external).toBeLessThan(16 * MIB);
  expect(after.rss - before.rss).toBeLessThan(128 * MIB);
});

test('strangers that begin a handshake and wait hold few places, and nothing of a run that is on', async () => {
  const answer = toolOf('doc_init', 'data_event', async () => [
    { type: 'data_event', tag: 'final_answer', payload: { answer: 'yes' } },
  ]);
  const { agents, ask } = await startMesh([answer]);
  const where = { host: '127.0.0.1', port: agents[0]?.port ?? 0 };
  const half = encodeFrame(Buffer.from('{"kind":"hello"')).subarray(0, 10);
  const strangers: net.Socket[] = [];
  const open = async () => {
    const socket = net.connect(where);
    strangers.push(socket);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(half);
    return socket;
  };
  onTestFinished(() => {
    for (const socket of strangers) socket.destroy();
  });

  for (let i = 0; i < MAX_PENDING_HANDSHAKES + 3; i++) await open();
  for (const socket of strangers) socket.resume();
  const places = () => strangers.map((socket) => (socket.closed ? 'closed' : 'waits'));

  await expect
    .poll(places, WAIT)
    .toEqual(['closed', 'closed', 'closed', ...Array<string>(MAX_PENDING_HANDSHAKES).fill('waits')]);
  expect(await ask('t')).toMatchObject({ status: 'answered', answer: 'yes' });
  // A place that is given up is free again: nobody is closed for the next one.
  strangers[3]?.destroy();
  await open();
  expect(await ask('u')).toMatchObject({ status: 'answered', answer: 'yes' });
  expect(places().slice(4)).toEqual(Array<string>(MAX_PENDING_HANDSHAKES).fill('waits'));
});
