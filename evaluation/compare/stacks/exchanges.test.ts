import { FINAL_ANSWER, HUB_ID, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { Recording } from '@gaia-mesh/core/recording/recording.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sampleRecording } from '../testing/sample-recording.ts';
import { planExchanges } from './exchanges.ts';

/** `client → server: request [replies]`, an exchange a line. */
function linesOf(exchanges: ReturnType<typeof planExchanges>): string[] {
  return exchanges.map(({ client, server, request, replies }) => {
    const riding = replies.map(({ id }) => id).join(' ');
    return `${client} → ${server}: ${request.id}${riding === '' ? '' : ` [${riding}]`}`;
  });
}

test('a recording becomes exchanges: only with who acts on a packet, and every effect in the response', () => {
  expect(linesOf(planExchanges(sampleRecording))).toEqual([
    'hub → 0: hub-1 [0-1]',
    'hub → 1: 0-1 [1-1 1-2]',
    'hub → 0: 1-1',
  ]);
});

const AGENTS = ['a', 'b', 'c', 'd', 'e'];

/** Any recording: who sends what to whom, because of which packet before, and whether as its reply. */
const recordings: fc.Arbitrary<Recording> = fc
  .record({
    agents: fc.integer({ min: 1, max: AGENTS.length }),
    routing: fc.constantFrom('broadcast', 'direct', 'topic'),
    steps: fc.array(
      fc.record({
        from: fc.nat(),
        to: fc.option(fc.nat()),
        cause: fc.nat(),
        isReply: fc.boolean(),
        isFinal: fc.boolean(),
      }),
      { maxLength: 25 },
    ),
  })
  .map(({ agents, routing, steps }) => {
    const ids = AGENTS.slice(0, agents);
    const nodeAt = (index: number) => ids[index % ids.length] ?? '';
    const packets = [{ cause: null as string | null, tool_us: 0, packet: packetOf('hub-0', HUB_ID, {}) }];
    steps.forEach(({ from, to, cause, isReply, isFinal }, index) => {
      const known = packets[cause % packets.length]?.packet.id ?? '';
      packets.push({
        cause: known,
        tool_us: 0,
        packet: packetOf(`p-${index}`, nodeAt(from), {
          ...(to === null ? {} : { to: nodeAt(to) }),
          ...(isReply ? { reply_to: known } : {}),
          ...(isFinal ? { tag: FINAL_ANSWER } : {}),
        }),
      });
    });
    const header = { ...sampleRecording.header, routing, agents: ids.map((id) => ({ id, tool: 't' })) };
    return { header, packets };
  });

function packetOf(id: string, from: string, more: Partial<Packet>): Packet {
  return { type: 'said', from, id, task_id: 't', token_used: 0, ts: 0, payload: {}, ...more };
}

/** Every time that a packet goes from one node to another, in requests and in responses. */
function transfersOf(exchanges: ReturnType<typeof planExchanges>): string[] {
  return exchanges.flatMap(({ client, server, request, replies }) => [
    `${client}>${server} ${request.id}`,
    ...replies.map(({ id }) => `${server}>${client} ${id}`),
  ]);
}

describe('of any recording', () => {
  test('every transfer is carried once', () => {
    fc.assert(
      fc.property(recordings, (recording) => {
        const transfers = transfersOf(planExchanges(recording));
        expect(new Set(transfers).size).toBe(transfers.length);
      }),
    );
  });

  test('each packet of an agent goes up to the hub once, and every exchange is with the hub', () => {
    fc.assert(
      fc.property(recordings, (recording) => {
        const exchanges = planExchanges(recording);
        const transfers = transfersOf(exchanges);
        for (const { packet } of recording.packets) {
          const ups = transfers.filter((text) => text === `${packet.from}>${HUB_ID} ${packet.id}`);
          expect(ups).toHaveLength(packet.from === HUB_ID ? 0 : 1);
        }
        for (const { client, server } of exchanges) expect([client, server]).toContain(HUB_ID);
      }),
    );
  });

  test('nobody calls itself or a stranger, and nothing that is carried was not recorded', () => {
    fc.assert(
      fc.property(recordings, (recording) => {
        const nodes = [HUB_ID, ...recording.header.agents.map(({ id }) => id)];
        const known = new Set(recording.packets.map(({ packet }) => packet));
        for (const { client, server, request, replies } of planExchanges(recording)) {
          expect(client).not.toBe(server);
          expect(nodes).toEqual(expect.arrayContaining([client, server]));
          for (const packet of [request, ...replies]) expect(known.has(packet)).toBe(true);
        }
      }),
    );
  });
});
