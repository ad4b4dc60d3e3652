import type { Recording } from '@gaia-mesh/core/recording/recording.ts';
import type { WireBytes } from '@gaia-mesh/stacks/contract/stack.ts';
import type { PlayedInvocation } from '../compare/adapters/adapter-arms.ts';
import type { MeasuredInvocation } from '../compare/experiment.ts';
import type { Arm } from '../compare/stacks/arms.ts';
import { type Invocation, medianLatency } from '../compare/stacks/invocation.ts';
import type { PlannedExchange } from '../compare/stacks/peers/protocol.ts';
import { computeMedian } from '../statistics/inference/quantile.ts';
import type { EventFeed } from './event-feed.ts';

/** Creates a listener that sends each invocation of a comparison of adapters to a feed. */
export function createComparisonFeed(feed: EventFeed, recording: Recording, adapters: readonly string[]) {
  beginComparison(feed, recording, adapters);
  return (measured: readonly MeasuredInvocation<PlayedInvocation>[]) => {
    for (const { arm, isNull, result } of measured) {
      const { rounds } = result;
      const [first] = rounds;
      if (first === undefined || isNull) continue;
      const ms = computeMedian(rounds.map(({ elapsedMs, passes }) => elapsedMs / passes));
      const bytes = Math.round(first.ledger.total.wire / first.passes);
      feed.add({ event: 'sample', arm, ms, bytes });
    }
  };
}

/**
 * Creates a listener that sends each invocation of a comparison of stacks to a feed: the time and the bytes of an exchange with an answer.
 */
export function createStackListener(
  feed: EventFeed,
  recording: Recording,
  arms: readonly Arm[],
  exchangesOf: (arm: Arm) => readonly PlannedExchange[],
) {
  beginComparison(
    feed,
    recording,
    arms.map(({ name }) => name),
  );
  const answered = new Map(
    arms.map((arm) => [arm.name, exchangesOf(arm).filter(({ replies }) => replies.length > 0).length]),
  );
  return (measured: readonly MeasuredInvocation<Invocation>[]) => {
    for (const { arm, isNull, result } of measured) {
      if (isNull) continue;
      const exchanges = answered.get(arm) ?? 0;
      const latencies = result.rounds.map(medianLatency).filter((us) => us !== null);
      feed.add({
        event: 'sample',
        arm,
        ms: latencies.length === 0 ? null : computeMedian(latencies) / 1000,
        bytes:
          result.bytes === null || exchanges === 0 ? null : divideBytes(result.bytes.answered, exchanges),
      });
    }
  };
}

function divideBytes({ sent, received }: WireBytes, exchanges: number): number {
  return Math.round((sent.raw + received.raw) / exchanges);
}

function beginComparison(feed: EventFeed, { header }: Recording, arms: readonly string[]): void {
  const { run_id, team, engine } = header;
  const adapter = arms.join(' · ');
  feed.add({ event: 'run_began', run_id, team, adapter, engine, agents: [], questions: null });
}
