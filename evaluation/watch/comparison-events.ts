import type { Recording } from '../../core/recording/recording.ts';
import type { InvocationProgress } from '../compare/play-invocations.ts';
import { median } from '../statistics/inference/quantile.ts';
import { oneLine } from '../terminal/table.ts';
import type { EventFeed } from './event-feed.ts';

const MAX_NAME = 80;

/** Tells a feed what a comparison of adapters plays, and each invocation when it is over. */
export function comparisonEvents(feed: EventFeed, { header }: Recording, adapters: readonly string[]) {
  feed.add({
    ...{
      kind: 'run',
      run: oneLine(header.run_id, MAX_NAME),
      team: oneLine(header.team, MAX_NAME),
      agents: [],
    },
    ...{ adapter: oneLine(adapters.join(' · '), MAX_NAME), engine: oneLine(header.engine, MAX_NAME) },
    questions: null,
  });
  return ({ invocations, played }: InvocationProgress, share: number) => {
    for (const { arm, rounds } of played) {
      const [first] = rounds;
      if (first === undefined) continue;
      const ms = median(rounds.map(({ elapsedMs, passes }) => elapsedMs / passes));
      const bytes = Math.round(first.ledger.total.wire / first.passes);
      feed.add({ kind: 'sample', arm: oneLine(arm, MAX_NAME), ms, bytes });
    }
    feed.add({ kind: 'progress', share, text: `${invocations} invocations` });
  };
}
