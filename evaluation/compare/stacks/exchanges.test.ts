import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FINAL_ANSWER, HUB_ID, type Packet } from '../../../core/contracts/packet.ts';
import type { Recording } from '../../../core/recording/recording.ts';
import { sampleRecording } from '../testing/sample-recording.ts';
import { type ExchangePlan, exchangesOf, FITS, TOPOLOGIES } from './exchanges.ts';

/** `client → server: request [replies]`, an exchange a line. */
function linesOf({ exchanges }: ExchangePlan): string[] {
  return exchanges.map(({ client, server, request, replies }) => {
    const riding = replies.map(({ id }) => id).join(' ');
    return `${client} → ${server}: ${request.id}${riding === '' ? '' : ` [${riding}]`}`;
  });
}

describe('a recording becomes exchanges', () => {
  test('through a hub: a broadcast is one up and one down to each other agent, a reply rides in its response', () => {
    const plan = exchangesOf(sampleRecording, { topology: 'hub', fit: 'recorded' });
    expect(linesOf(plan)).toEqual([
      'hub → 0: hub-1',
      'hub → 1: hub-1',
      '0 → hub: 0-1 [1-1]',
      'hub → 1: 0-1 [1-1]',
      '1 → hub: 1-2',
      'hub → 0: 1-2',
    ]);
    expect(plan.counts).toEqual({
      packets: 4,
      deliveries: 6,
      broadcasts: 2,
      transfers: 8,
      requests: 6,
      riding: 2,
      acknowledged: 4,
    });
  });

  test('directly: each agent dials the others, and an answer goes to who asked as well', () => {
    const plan = exchangesOf(sampleRecording, { topology: 'direct', fit: 'recorded' });
    expect(linesOf(plan)).toEqual([
      'hub → 0: hub-1',
      'hub → 1: hub-1',
      '0 → 1: 0-1 [1-1]',
      '1 → 0: 1-2',
      '1 → hub: 1-2',
    ]);
  });

  test('as a protocol of requests wants: only to who acts on it, and every effect in the response', () => {
    const hub = exchangesOf(sampleRecording, { topology: 'hub', fit: 'addressed' });
    expect(linesOf(hub)).toEqual(['hub → 0: hub-1 [0-1]', 'hub → 1: 0-1 [1-1 1-2]', 'hub → 0: 1-1']);
    const direct = exchangesOf(sampleRecording, { topology: 'direct', fit: 'addressed' });
    expect(linesOf(direct)).toEqual(['hub → 0: hub-1', '0 → 1: 0-1 [1-1]', '1 → hub: 1-2']);
  });

  test('agents that were not recorded hear what is broadcast and get nothing that was addressed', () => {
    const recorded = exchangesOf(sampleRecording, { topology: 'direct', fit: 'recorded', agents: 4 });
    expect(recorded.nodes).toEqual([HUB_ID, '0', '1', 'listener-1', 'listener-2']);
    expect(linesOf(recorded)).toContain('0 → listener-2: 0-1');
    const fitting = exchangesOf(sampleRecording, { topology: 'direct', fit: 'addressed', agents: 4 });
    expect(linesOf(fitting).join()).not.toContain('listener');
  });
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
    const packets = [{ cause: null as string | null, toolUs: 0, packet: packetOf('hub-0', HUB_ID, {}) }];
    steps.forEach(({ from, to, cause, isReply, isFinal }, index) => {
      const known = packets[cause % packets.length]?.packet.id ?? '';
      packets.push({
        cause: known,
        toolUs: 0,
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

const plans = fc
  .record({
    recording: recordings,
    topology: fc.constantFrom(...TOPOLOGIES),
    fit: fc.constantFrom(...FITS),
    extra: fc.nat(3),
  })
  .map(({ recording, topology, fit, extra }) => ({
    recording,
    topology,
    fit,
    plan: exchangesOf(recording, { topology, fit, agents: recording.header.agents.length + extra }),
  }));

/** Every time that a packet goes from one node to another, in requests and in responses. */
function transfersOf({ exchanges }: ExchangePlan): string[] {
  return exchanges.flatMap(({ client, server, request, replies }) => [
    `${client}>${server} ${request.id}`,
    ...replies.map(({ id }) => `${server}>${client} ${id}`),
  ]);
}

describe('of any recording', () => {
  test('every transfer is carried once, and the counts add up', () => {
    fc.assert(
      fc.property(plans, ({ plan }) => {
        const transfers = transfersOf(plan);
        expect(new Set(transfers).size).toBe(transfers.length);
        expect(plan.counts.transfers).toBe(transfers.length);
        expect(plan.counts.requests + plan.counts.riding).toBe(plan.counts.transfers);
      }),
    );
  });

  test('through a hub each packet of an agent goes up once and down once to each recipient', () => {
    fc.assert(
      fc.property(plans, ({ plan, recording, topology }) => {
        fc.pre(topology === 'hub');
        const transfers = transfersOf(plan);
        for (const { packet } of recording.packets) {
          const ups = transfers.filter((text) => text === `${packet.from}>${HUB_ID} ${packet.id}`);
          expect(ups).toHaveLength(packet.from === HUB_ID ? 0 : 1);
        }
        for (const { client, server } of plan.exchanges) expect([client, server]).toContain(HUB_ID);
      }),
    );
  });

  test('nobody calls itself or a stranger, and nothing that is carried was not recorded', () => {
    fc.assert(
      fc.property(plans, ({ plan, recording }) => {
        const known = new Set(recording.packets.map(({ packet }) => packet));
        for (const { client, server, request, replies } of plan.exchanges) {
          expect(client).not.toBe(server);
          expect(plan.nodes).toEqual(expect.arrayContaining([client, server]));
          for (const packet of [request, ...replies]) expect(known.has(packet)).toBe(true);
        }
      }),
    );
  });

  test('the recorded deliveries are the same in both topologies, whoever carries them', () => {
    fc.assert(
      fc.property(recordings, (recording) => {
        const [hub, direct] = TOPOLOGIES.map((topology) =>
          exchangesOf(recording, { topology, fit: 'recorded' }),
        );
        expect(hub?.counts.deliveries).toBe(direct?.counts.deliveries);
        expect(direct?.counts.transfers).toBe(direct?.counts.deliveries);
      }),
    );
  });
});
