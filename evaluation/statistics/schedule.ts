import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Random } from '@gaia-mesh/core/system/random.ts';

/** One run of one arm within a round. */
interface Slot {
  arm: string;
  /** True for the second run of the baseline in this round; the null comparison compares it with the first. */
  isNull: boolean;
}

/**
 * Returns the runs of one round in random order: each arm once, the baseline twice. Arms that run close together meet the same machine, and
 * a random position in each round keeps warm caches and rising clock rates from favouring one of them. Which of the two baseline runs is the null run is random, too: if it were always the later one,
 * anything that grows within a round would look like noise.
 *
 * A run should start its own processes and connections (T. Kalibera and R. Jones, 2013, "Rigorous benchmarking in reasonable time"), so
 * that the lasting properties of a process are drawn again in every round.
 */
export function drawRound(arms: readonly string[], baseline: string, random: Random): Slot[] {
  if (!arms.includes(baseline)) {
    throw new MeshError('usage', `expected the baseline among ${arms.join(', ')}, got ${baseline}`);
  }
  const repeated = arms.find((arm, index) => arms.indexOf(arm) !== index);
  if (repeated !== undefined) throw new MeshError('usage', `expected each arm once, got ${repeated} twice`);
  return random.shuffle([...arms.map((arm) => ({ arm, isNull: false })), { arm: baseline, isNull: true }]);
}
