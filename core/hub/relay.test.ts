import { describe, expect, test } from 'vitest';
import { MAX_FRAME_BYTES } from '../contracts/limits.ts';
import type { Packet } from '../contracts/packet.ts';
import { quietLink } from '../testing/quiet-link.ts';
import { encodeFrame, FrameReader } from '../wire/frame.ts';
import { Authorizer } from './authorizer.ts';
import { DirectDelivery } from './delivery/direct.ts';
import { Relay } from './relay.ts';
import { createRouter } from './routing.ts';

/** A relay among three agents that say nothing by themselves; `says` has one of them say frames, in one read of its connection. */
async function relayAmong(ids: readonly string[]) {
  const ends = await Promise.all(ids.map((id) => quietLink(id)));
  const router = createRouter('broadcast');
  router.membersChanged(ends.map(({ link }) => link));
  const delivery = new DirectDelivery();
  const nothing = () => undefined;
  const observer = { relayed: nothing, broadcast: nothing, refused: nothing, agentLost: nothing };
  const authorizer = new Authorizer({
    final: null,
    router,
    observer,
    tasks: new Map(),
    delivery,
    onControl: () => undefined,
  });
  const relay = new Relay(authorizer, delivery, observer);
  const heard = ends.map(({ agent }) => {
    const packets: string[] = [];
    agent.start(MAX_FRAME_BYTES, (run) => {
      for (const blob of run.copies()) packets.push(JSON.parse(blob.toString()).id);
    });
    return packets;
  });
  const readers = ends.map(({ link }) => new FrameReader(MAX_FRAME_BYTES, (run) => relay.relay(link, run)));
  const says = (speaker: number, packets: readonly Packet[]) =>
    readers[speaker]?.push(
      Buffer.concat(packets.map((packet) => encodeFrame(Buffer.from(JSON.stringify(packet))))),
    );
  return { relay, authorizer, heard, says, links: ends.map(({ link }) => link) };
}

function packet(from: string, id: string, text = ''): Packet {
  return { type: 'note', from, id, task_id: 't', token_used: 0, ts: 0, payload: { text } };
}

describe('the relay', () => {
  test('leaves a refused packet out of what comes before and after it in the same read', async () => {
    const { relay, heard, says } = await relayAmong(['a', 'b', 'c']);
    says(0, [packet('a', '1'), packet('b', 'forged'), packet('a', '2'), packet('c', 'forged, too')]);
    says(1, [packet('b', '3')]);
    relay.flush();
    await expect.poll(() => heard).toEqual([['3'], ['1', '2'], ['1', '2', '3']]);
  });

  test('brings to nobody what is his own, in whatever order they speak', async () => {
    const { relay, heard, says } = await relayAmong(['a', 'b', 'c']);
    for (const turn of ['1', '2', '3']) {
      says(0, [packet('a', `a${turn}`)]);
      says(1, [packet('b', `b${turn}`)]);
      says(2, [packet('c', `c${turn}`)]);
      says(0, [packet('a', `a${turn}+`)]);
    }
    relay.flush();
    const without = (id: string) =>
      ['1', '2', '3']
        .flatMap((turn) => [`a${turn}`, `b${turn}`, `c${turn}`, `a${turn}+`])
        .filter((one) => !one.startsWith(id));
    await expect.poll(() => heard).toEqual([without('a'), without('b'), without('c')]);
  });

  test('keeps the order of a sender whose packets go different ways: short ones together, long ones at once', async () => {
    const { relay, heard, says } = await relayAmong(['a', 'b']);
    // Batches of more than 16 KiB are written at once.
    const long = 'x'.repeat(32 * 1024);
    for (let turn = 0; turn < 20; turn++) {
      says(0, [packet('a', `${turn} short`)]);
      says(0, [packet('a', `${turn} long`, long)]);
    }
    relay.flush();
    const expected = Array.from({ length: 20 }, (_, turn) => [`${turn} short`, `${turn} long`]).flat();
    await expect.poll(() => heard[1]).toEqual(expected);
  });

  test('brings what it wrote, also where a slow agent takes it only after more has come', async () => {
    const { relay, heard, says, links } = await relayAmong(['a', 'b']);
    const [, slow] = links;
    if (slow === undefined) throw new Error('no link');
    // Full, so that the system takes nothing more for now.
    const filler = encodeFrame(Buffer.from(JSON.stringify(packet('a', 'filler', 'x'.repeat(1_000_000)))));
    let fillers = 0;
    while (slow.socket.queuedBytes < 8_000_000) {
      slow.deliver(filler);
      fillers += 1;
    }
    const ids: string[] = [];
    for (let turn = 0; turn < 50; turn++) {
      const more = Array.from({ length: 20 }, (_, n) => `${turn}.${n}`);
      says(
        0,
        more.map((id) => packet('a', id, 'y'.repeat(turn * 40))),
      );
      relay.flush();
      ids.push(...more);
    }
    await expect.poll(() => heard[1]?.filter((id) => id !== 'filler')).toEqual(ids);
    expect(heard[1]).toHaveLength(fillers + ids.length);
  });

  test('sends nothing on when the ledger is being closed, and counts it all the same', async () => {
    const { relay, authorizer, heard, says, links } = await relayAmong(['a', 'b']);
    says(0, [packet('a', 'before')]);
    authorizer.close();
    says(0, [packet('a', 'after')]);
    relay.flush();
    says(1, [packet('b', 'after, too')]);
    relay.flush();
    await expect.poll(() => heard[1]).toEqual(['before']);
    expect(heard[0]).toEqual([]);
    expect(links.map(({ counts }) => [counts.packetsRx, counts.packetsTx])).toEqual([
      [2, 0],
      [1, 1],
    ]);
  });
});
