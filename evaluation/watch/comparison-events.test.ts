import { runEventSchema } from '@gaia-mesh/core/run/run-event.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { expect, test } from 'vitest';
import { combineArms } from '../compare/stacks/arms.ts';
import { type Invocation, sampleStack } from '../compare/stacks/invocation.ts';
import { framedTcp } from '../compare/stacks/testing/framed-tcp.ts';
import { invocationOf } from '../compare/stacks/testing/sample-stacks.ts';
import { buildEchoes } from '../compare/stacks/workload.ts';
import { sampleRecording } from '../compare/testing/sample-recording.ts';
import { createComparisonListener } from './comparison-events.ts';
import { EventFeed } from './event-feed.ts';

test('an invocation of stacks tells what is known of it, and nothing of the second baseline', () => {
  const { arms } = combineArms([{ stack: framedTcp }]);
  const arm = arms[0]?.name ?? '';
  const exchanges = buildEchoes(512, 1);
  const feed = new EventFeed(() => 0);
  const named = arms.map(({ name }) => ({
    name,
    sample: (result: Invocation) => sampleStack(result, exchanges),
  }));
  const tell = createComparisonListener(feed, sampleRecording, named);
  if (tell === undefined) throw new Error('there is a feed');
  const invocation = (index: number, isOverloaded: boolean) =>
    invocationOf(1, index, isOverloaded, new Random(7));

  tell([{ arm, isNull: false, result: invocation(0, false) }]);
  tell([{ arm, isNull: true, result: invocation(1, false) }]);
  tell([{ arm, isNull: false, result: invocation(2, true) }]);

  feed.end('compared');
  const events = feed.from(1, 10).texts.map((text) => runEventSchema.safeParse(JSON.parse(text)).data);
  const samples = events.flatMap((event) => (event?.event === 'sample' ? [event] : []));
  expect(samples).toMatchObject([{ arm }, { arm, ms: null, bytes: null }]);
  const [{ ms, bytes } = { ms: null, bytes: null }] = samples;
  expect(ms).toBeCloseTo(0.3, 2);
  expect(bytes).toBe(Math.round((2 * (20 * 1200 + 80)) / exchanges.length));
});
