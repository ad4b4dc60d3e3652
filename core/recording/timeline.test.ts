import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PacketTrace } from './recording.ts';
import { Timeline } from './timeline.ts';

type AgentWork = PacketTrace['work'];

const packet = (id: string, from: string) => ({
  type: 'said',
  from,
  id,
  task_id: 't',
  token_used: 0,
  ts: 0,
});
const document: PacketTrace = {
  cause: null,
  tool_us: 0,
  relayed: { bytes: 1, arrived_us: 1000, forwarded_us: 1300 },
  work: { received_us: 1000, sent_us: 1300, decode_us: 0, engine_us: 0, encode_us: 200 },
  packet: packet('d', 'hub'),
};
const answer = (work?: AgentWork, tool_us: number | null = 500): PacketTrace => ({
  cause: 'd',
  tool_us,
  relayed: { bytes: 1, arrived_us: 3000, forwarded_us: 3010 },
  work,
  packet: { ...packet('a', '0'), tag: 'final_answer' },
});

describe('the time of a task', () => {
  test('is split by the hub’s clock, and by the agent’s report within', () => {
    // The agent’s clock is another: only differences of it count.
    const work = { received_us: 90_100, sent_us: 91_100, decode_us: 50, engine_us: 400, encode_us: 30 };

    expect(new Timeline([document, answer(work)]).sum()).toEqual({
      encode: 230,
      relay: 100,
      wire: 700,
      decode: 50,
      tool: 100,
      engine: 400,
      agent: 420,
      unknown: 0,
      total: 2000,
    });
  });

  test.each<[string, AgentWork, number | null]>([
    ['is not there', undefined, null],
    [
      'says more than there was time for',
      { received_us: 0, sent_us: 9000, decode_us: 0, engine_us: 0, encode_us: 0 },
      500,
    ],
    [
      'says more of its tool than of itself',
      { received_us: 0, sent_us: 100, decode_us: 0, engine_us: 0, encode_us: 0 },
      500,
    ],
    [
      'says more of its engine than of its tool',
      { received_us: 0, sent_us: 900, decode_us: 0, engine_us: 600, encode_us: 0 },
      500,
    ],
    ['ends before it began', { received_us: 50, sent_us: 10, decode_us: 0, engine_us: 0, encode_us: 0 }, 0],
  ])('with an agent whose report %s is unknown', (_what, work, tool_us) => {
    expect(new Timeline([document, answer(work, tool_us)]).sum()).toMatchObject({
      tool: 0,
      engine: 0,
      unknown: 1700,
      total: 2000,
    });
  });

  test('of which a packet is missing is not told', () => {
    expect(new Timeline([answer()]).sum()).toBeNull();
    expect(new Timeline([document]).sum()).toBeNull();
  });

  test('has parts that sum to it, none of them negative, in any team', () => {
    const us = fc.integer({ min: 0, max: 5000 });
    const step = fc.record({
      agent: fc.integer({ min: 0, max: 4 }),
      /** Which of the packets before it caused it. */
      cause: fc.nat(),
      afterUs: us,
      relayUs: us,
      reports: fc.option(
        fc.record({ received: us, inAgent: us, decode_us: us, tool_us: us, engine_us: us, encode_us: us }),
        { nil: undefined },
      ),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
        const traces: PacketTrace[] = [document];
        let nowUs = document.relayed?.arrived_us ?? 0;
        steps.forEach(({ agent, cause, afterUs, relayUs, reports }, index) => {
          nowUs += afterUs;
          const isLast = index === steps.length - 1;
          traces.push({
            cause: traces[cause % traces.length]?.packet.id ?? 'd',
            tool_us: reports?.tool_us ?? null,
            relayed: { bytes: 1, arrived_us: nowUs, forwarded_us: nowUs + relayUs },
            work: reports && {
              ...reports,
              received_us: reports.received,
              sent_us: reports.received + reports.inAgent,
            },
            packet: { ...packet(`p${index}`, String(agent)), tag: isLast ? 'final_answer' : 'none' },
          });
        });

        const split = new Timeline(traces).sum();

        const { total = Number.NaN, ...parts } = split ?? {};
        expect(Object.values(parts).every((part) => part >= 0)).toBe(true);
        expect(Object.values(parts).reduce((sum, part) => sum + part, 0)).toBeCloseTo(total, 6);
        expect(Math.abs(total - (nowUs - 1000))).toBeLessThan(5);
        const timeline = new Timeline(traces);
        for (const { total: pieceUs, ...own } of traces.flatMap((one) => timeline.measurePiece(one) ?? [])) {
          const sum = Object.values(own).reduce((all, part) => all + part, 0);
          expect(sum).toBeCloseTo(pieceUs, 6);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
