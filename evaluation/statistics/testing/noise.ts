import type { Random } from '@gaia-mesh/core/system/random.ts';

/** Draws a standard normal variable (G. Box and M. Muller, 1958). */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.uniform())) * Math.cos(2 * Math.PI * random.uniform());
}
