import type { Random } from '../../../core/system/random.ts';
import { roundOf } from '../schedule.ts';

/** What disturbs simulated measurements; logarithmic, so 0.05 is about 5 %. */
export interface Noise {
  /** Normal noise of each run by itself. */
  sigma: number;
  /** Standard deviation of the random walk that all runs of a round share. */
  drift?: number;
  /** Correlation of the noise of one run with that of the run before it, across rounds. */
  autocorrelation?: number;
  /** Fraction of the runs that something interrupts, by an exponential time with a mean of `interruption`. */
  interrupted?: number;
  interruption?: number;
}

/** One measured series per arm, and that of the null arm: element i of each belongs to round i. */
interface Rounds {
  times: Record<string, number[]>;
  nullTimes: number[];
}

/** A standard normal variable (G. Box and M. Muller, 1958). */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.uniform())) * Math.cos(2 * Math.PI * random.uniform());
}

/** Interleaved rounds of arms with the given true costs, run in the order of the real schedule. */
export function* simulate(
  costs: Readonly<Record<string, number>>,
  baseline: string,
  noise: Noise,
  random: Random,
): Generator<Rounds, never> {
  const { sigma, drift = 0, autocorrelation = 0, interrupted = 0, interruption = 0 } = noise;
  const arms = Object.keys(costs);
  const times: Record<string, number[]> = Object.fromEntries(arms.map((arm) => [arm, []]));
  const nullTimes: number[] = [];
  let shared = 0;
  let before = normal(random);
  for (;;) {
    shared += drift * normal(random);
    for (const { arm, isNull } of roundOf(arms, baseline, random)) {
      before = autocorrelation * before + Math.sqrt(1 - autocorrelation ** 2) * normal(random);
      const pause = random.uniform() < interrupted ? -interruption * Math.log(1 - random.uniform()) : 0;
      const time = (costs[arm] ?? 0) * Math.exp(shared + sigma * before + pause);
      (isNull ? nullTimes : times[arm])?.push(time);
    }
    yield { times, nullTimes };
  }
}

/** The first `n` rounds. */
export function roundsOf(n: number, ...setting: Parameters<typeof simulate>): Rounds {
  const rounds = simulate(...setting);
  for (let i = 1; i < n; i++) rounds.next();
  return rounds.next().value;
}
