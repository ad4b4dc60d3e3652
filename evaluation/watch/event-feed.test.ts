import { Batch } from '@gaia-mesh/core/hub/batch.ts';
import { quietLink } from '@gaia-mesh/core/testing/quiet-link.ts';
import { slabs } from '@gaia-mesh/core/wire/slab.ts';
import { describe, expect, test } from 'vitest';
import { EventFeed } from './event-feed.ts';
import { type WatchEvent, watchEventSchema } from './watch-event.ts';

/** A feed whose time the test sets, and which ticks when the test says. */
async function feedAt() {
  const { link } = await quietLink('a');
  const clock = { ms: 0 };
  const feed = new EventFeed(() => clock.ms);
  let packets = 0;
  return {
    feed,
    /** The hub relayed so many packets of 10 bytes and 2 tokens in one turn, and a tick went by. */
    pass(count: number) {
      const batch = new Batch(link, [link], slabs.take(), 0, 0);
      for (let i = 0; i < count; i++) {
        packets += 1;
        const head = { type: 'note', from: 'a', id: `a-${packets}`, task_id: 't', token_used: 2 };
        batch.add({ head, recipients: batch.recipients, frameBytes: 10 });
      }
      feed.relayed(batch);
      batch.release();
      clock.ms += 100;
      feed.tick();
    },
  };
}

/** All events that are kept, each as the schema has it. */
function kept(feed: EventFeed): WatchEvent[] {
  const { texts } = feed.from(1, Number.MAX_SAFE_INTEGER);
  return texts.map((text) => watchEventSchema.parse(JSON.parse(text)));
}

const packetsIn = (events: readonly WatchEvent[]) => events.filter(({ kind }) => kind === 'packet');
const lastTotals = (events: readonly WatchEvent[]) => events.findLast((event) => event.kind === 'totals');

describe('what a feed keeps', () => {
  test('tells every packet of a thousand a second one by one', async () => {
    const { feed, pass } = await feedAt();
    for (let tick = 0; tick < 30; tick++) pass(100);

    const events = kept(feed);
    expect(packetsIn(events)).toHaveLength(3000);
    expect(lastTotals(events)).toMatchObject({ packets: 3000, bytes: 30_000, tokens: 6000, unshown: 0 });
  });

  test('samples a flood, and counts it exactly', async () => {
    const { feed, pass } = await feedAt();
    for (let tick = 0; tick < 50; tick++) pass(10_000);

    const events = kept(feed);
    const shown = packetsIn(events).length;
    expect(shown).toBeLessThanOrEqual(200 + 49 * 20);
    expect(shown).toBeGreaterThan(900);
    expect(lastTotals(events)).toMatchObject({
      ...{ packets: 500_000, bytes: 5_000_000, tokens: 1_000_000, unshown: 500_000 - shown },
      agents: { a: { packets: 500_000, bytes: 5_000_000, tokens: 1_000_000 } },
    });
  });

  test('has a bound, and packets push no question out', async () => {
    const { feed, pass } = await feedAt();
    feed.add({ kind: 'question', id: 'first', state: 'asked' });
    for (let tick = 0; tick < 600; tick++) pass(150);

    const events = kept(feed);
    expect(events.length).toBeLessThan(40_000);
    expect(events[0]).toMatchObject({ kind: 'question', id: 'first', n: 1 });
    expect(events.at(-1)?.n).toBe(feed.last);
    expect(lastTotals(events)).toMatchObject({ packets: 90_000 });
  });

  test('counts every fault, and tells the first of a tick one by one', async () => {
    const { feed, pass } = await feedAt();
    for (let i = 0; i < 1000; i++) feed.fault('drop', () => `drop ${i}`);
    pass(1);

    const events = kept(feed);
    expect(events.filter(({ kind }) => kind === 'fault')).toHaveLength(10);
    expect(lastTotals(events)).toMatchObject({ faults: { drop: 1000 } });
  });

  test('counts another run anew, after the last word of the one before', async () => {
    const { feed, pass } = await feedAt();
    const run = { team: 't', adapter: 'json', engine: 'e', agents: [], questions: null };
    pass(7);
    feed.fault('drop', () => 'drop');
    feed.add({ kind: 'run', run: 'two', ...run });
    pass(3);

    const kinds = kept(feed).filter(({ kind }) => kind === 'run' || kind === 'totals');
    expect(kinds).toMatchObject([
      { kind: 'totals', packets: 7 },
      { kind: 'totals', packets: 7, faults: { drop: 1 } },
      { kind: 'run', run: 'two' },
      { kind: 'totals', packets: 3, faults: {} },
    ]);
  });
});
