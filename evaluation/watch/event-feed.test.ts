import { Batch } from '@gaia-mesh/core/hub/batch.ts';
import { type NewRunEvent, type RunEvent, runEventSchema } from '@gaia-mesh/core/run/run-event.ts';
import { quietLink } from '@gaia-mesh/core/testing/quiet-link.ts';
import { slabs } from '@gaia-mesh/core/wire/slab.ts';
import { describe, expect, test } from 'vitest';
import { EventFeed } from './event-feed.ts';

/** Creates a feed whose clock and ticks the test controls. */
async function feedAt() {
  const { link } = await quietLink('a');
  const clock = { ms: 0 };
  const feed = new EventFeed(() => clock.ms);
  let packets = 0;
  return {
    feed,
    /** Relays `count` packets of 10 bytes and 2 tokens in one batch, and ticks. */
    pass(count: number) {
      const batch = new Batch(link, [link], slabs.take(), 0, 0);
      for (let i = 0; i < count; i++) {
        packets += 1;
        const head = { type: 'note', from: 'a', id: `a-${packets}`, task_id: 't', token_used: 2 };
        batch.add({ head, recipients: batch.recipients, frameBytes: 10 });
      }
      feed.relayed(batch);
      batch.release();
      clock.ms += 250;
      feed.tick();
    },
  };
}

/** Returns all kept events, checked by the schema. */
function kept(feed: EventFeed): RunEvent[] {
  const { texts } = feed.from(1, Number.MAX_SAFE_INTEGER);
  const events = texts.flatMap((text) => runEventSchema.safeParse(JSON.parse(text)).data ?? []);
  expect(events).toHaveLength(texts.length);
  return events;
}

const dropped = (number: number): NewRunEvent => ({
  event: 'fault',
  kind: 'drop',
  from: 'a',
  to: 'b',
  number,
  id: `a-${number}`,
  type: 'note',
  task_id: 't',
});
const packetsIn = (events: readonly RunEvent[]) => events.filter(({ event }) => event === 'packet');
const lastTotals = (events: readonly RunEvent[]) => events.findLast(({ event }) => event === 'totals');

describe('what a feed keeps', () => {
  test('tells every packet of a thousand a second one by one', async () => {
    const { feed, pass } = await feedAt();
    for (let tick = 0; tick < 12; tick++) pass(250);

    const events = kept(feed);
    expect(packetsIn(events)).toHaveLength(3000);
    expect(lastTotals(events)).toMatchObject({ packets: 3000, bytes: 30_000, tokens: 6000, unshown: 0 });
  });

  test('samples a flood, and counts it exactly', async () => {
    const { feed, pass } = await feedAt();
    for (let tick = 0; tick < 50; tick++) pass(10_000);

    const events = kept(feed);
    const shown = packetsIn(events).length;
    expect(shown).toBeLessThanOrEqual(500 + 49 * 50);
    expect(shown).toBeGreaterThan(900);
    expect(lastTotals(events)).toMatchObject({
      ...{ packets: 500_000, bytes: 5_000_000, tokens: 1_000_000, unshown: 500_000 - shown },
      agents: { a: { packets: 500_000, bytes: 5_000_000, tokens: 1_000_000 } },
    });
  });

  test('has a bound, and packets push no question out', async () => {
    const { feed, pass } = await feedAt();
    feed.add({ event: 'task_began', task_id: 'first', question: '' });
    for (let tick = 0; tick < 240; tick++) pass(375);

    const events = kept(feed);
    expect(events.length).toBeLessThan(40_000);
    expect(events[0]).toMatchObject({ event: 'task_began', task_id: 'first', n: 1 });
    expect(events.at(-1)?.n).toBe(feed.last);
    expect(lastTotals(events)).toMatchObject({ packets: 90_000 });
  });

  test('counts every fault, and tells the first of a tick one by one', async () => {
    const { feed, pass } = await feedAt();
    for (let i = 0; i < 1000; i++) feed.add(dropped(i));
    pass(1);

    const events = kept(feed);
    expect(events.filter(({ event }) => event === 'fault')).toHaveLength(10);
    expect(lastTotals(events)).toMatchObject({ faults: { drop: 1000 } });
  });

  test('counts refusals that have no line of their own', async () => {
    const { feed, pass } = await feedAt();
    for (const left_out of [undefined, 40, 7])
      feed.add({ event: 'refused', from: 'a', reason: 'no', left_out });
    pass(1);
    expect(lastTotals(kept(feed))).toMatchObject({ faults: { refused: 50 } });
  });

  test('counts the document for the hub, and not among the packets of agents', async () => {
    const { feed, pass } = await feedAt();
    const head = { type: 'doc_init', from: 'hub', id: 'hub-1', task_id: 't', token_used: 0 };
    feed.add({ event: 'broadcast', ...head, bytes: 1000, recipients: 3 });
    pass(2);
    expect(lastTotals(kept(feed))).toMatchObject({
      ...{ packets: 2, bytes: 20, tokens: 4 },
      agents: { hub: { packets: 1, bytes: 1000, tokens: 0 }, a: { packets: 2, bytes: 20, tokens: 4 } },
    });
  });

  test('is bounded between two ticks, too', async () => {
    const { feed } = await feedAt();
    for (let n = 0; n < 20_000; n++) feed.add({ event: 'task_began', task_id: `t${n}`, question: '' });
    feed.tick();
    expect(kept(feed).length).toBeLessThanOrEqual(5000);
  });

  test('counts another run anew, after the last word of the one before', async () => {
    const { feed, pass } = await feedAt();
    const run = { team: 't', adapter: 'json', engine: 'e', agents: [], questions: null };
    pass(7);
    feed.add(dropped(0));
    feed.add({ event: 'run_began', run_id: 'two', ...run });
    pass(3);

    const kinds = kept(feed).filter(({ event }) => event === 'run_began' || event === 'totals');
    expect(kinds).toMatchObject([
      { event: 'totals', packets: 7 },
      { event: 'totals', packets: 7, faults: { drop: 1 } },
      { event: 'run_began', run_id: 'two' },
      { event: 'totals', packets: 3 },
    ]);
    expect(kinds.at(-1)).toHaveProperty('faults', {});
  });
});
