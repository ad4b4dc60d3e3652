import { idleOf, rateOf, spreadOf } from './figures.ts';
import type { RelayResults } from './run-rounds.ts';

/** A generator that waits for less of its time may be what limits. */
const MIN_IDLE_PERCENT = 5;
/** Differences below this mean nothing on a machine that changes its speed. */
const CLEARLY_FASTER = 1.15;

/**
 * Names of the loads in which the generator may have limited the hub: it was hardly idle, and the C relay got no more out of it.
 * Elsewhere the hub's rate is the hub's own.
 */
export function unsureLoads({ outcomes }: RelayResults): string[] {
  const saturated = outcomes.filter(({ cell }) => cell.kind === 'throughput');
  return saturated
    .filter(({ target, cell, rounds }) => {
      if (target !== 'hub') return false;
      const idle = spreadOf([...rounds.values()].map(idleOf));
      const relay = saturated.find((other) => other.cell === cell && other.target === 'C relay');
      const faster = spreadOf(
        [...rounds].map(([round, sample]) => {
          const against = relay?.rounds.get(round);
          return against === undefined ? Number.NaN : rateOf(against) / rateOf(sample);
        }),
      );
      return (idle?.median ?? 0) < MIN_IDLE_PERCENT && (faster?.median ?? 0) < CLEARLY_FASTER;
    })
    .map(({ cell }) => cell.name);
}
