import type { Recording } from '@gaia-mesh/core/recording/recording.ts';
import type { MeasuredInvocation } from '../compare/experiment.ts';
import type { EventFeed } from './event-feed.ts';

/** Figures of an invocation that is over: milliseconds of a task or an exchange, and its bytes. */
interface InvocationSample {
  readonly ms: number | null;
  readonly bytes: number | null;
}

/** Creates a listener that sends each invocation of a comparison to a feed, and nothing of the second baseline. */
export function createComparisonListener<Result>(
  feed: EventFeed | undefined,
  { header }: Recording,
  arms: readonly { readonly name: string; readonly sample: (result: Result) => InvocationSample }[],
) {
  if (feed === undefined) return undefined;
  const { run_id, team, engine } = header;
  const adapter = arms.map(({ name }) => name).join(' · ');
  feed.add({ event: 'run_began', run_id, team, adapter, engine, agents: [], questions: null });
  return (measured: readonly MeasuredInvocation<Result>[]) => {
    for (const { arm, isNull, result } of measured) {
      const own = arms.find(({ name }) => name === arm);
      if (!isNull && own !== undefined) feed.add({ event: 'sample', arm, ...own.sample(result) });
    }
  };
}
