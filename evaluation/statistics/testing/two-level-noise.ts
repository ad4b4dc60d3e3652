import type { Random } from '@gaia-mesh/core/system/random.ts';
import { normal } from './noise.ts';

/**
 * One kind of noise: returns, for each measurement, a function that gives the logarithmic noise of the two arms in the next round;
 * `invocation` counts from 0.
 */
export type TwoLevelNoise = (random: Random) => (invocation: number) => readonly [number, number];

const exponential = (random: Random) => -Math.log(1 - random.uniform());

/** Disturbances of rounds, of about 5 %. Each function starts a session, and its memory lasts from invocation to invocation. */
export const NOISES = {
  normal: (random) => () => [0.05 * normal(random), 0.05 * normal(random)],
  skewed: (random) => () => [0.05 * exponential(random), 0.05 * exponential(random)],
  'heavy-tailed': (random) => {
    // Student's t with two degrees of freedom: its variance is infinite.
    const value = () => (0.03 * normal(random)) / Math.sqrt(exponential(random));
    return () => [value(), value()];
  },
  'interrupted rounds': (random) => {
    const value = () => 0.03 * normal(random) + (random.uniform() < 0.1 ? 0.6 * exponential(random) : 0);
    return () => [value(), value()];
  },
  'two modes': (random) => {
    const value = () => 0.02 * normal(random) + (random.uniform() < 0.4 ? 0.1 : 0);
    return () => [value(), value()];
  },
  'a coarse clock': (random) => {
    const value = () => Math.log(Math.max(1, Math.round(20 * Math.exp(0.05 * normal(random)))) / 20);
    return () => [value(), value()];
  },
  'a random walk': (random) => {
    let machine = 0;
    return () => {
      machine += 0.03 * normal(random);
      return [machine + 0.05 * normal(random), machine + 0.05 * normal(random)];
    };
  },
  'a machine that warms up': (random) => {
    let round = 0;
    return () => {
      round += 1;
      const machine = 0.3 * Math.exp(-round / 20);
      return [machine + 0.05 * normal(random), machine + 0.05 * normal(random)];
    };
  },
  'rounds like their neighbours': (random) => {
    // The noise belongs to one process: the next one starts anew.
    let [last, own] = [-1, [0, 0] as [number, number]];
    return (invocation) => {
      const isNew = invocation !== last;
      last = invocation;
      for (const arm of [0, 1] as const)
        own[arm] = isNew ? normal(random) : 0.8 * own[arm] + 0.6 * normal(random);
      return [0.05 * own[0], 0.05 * own[1]];
    };
  },
  'a rhythm of the machine': (random) => {
    let round = 0;
    return () => {
      round += 1;
      const beat = (at: number) => 0.08 * Math.sin((2 * Math.PI * at) / 7) + 0.03 * normal(random);
      // Which of the two runs first is drawn at random, as by the schedule.
      return random.uniform() < 0.5 ? [beat(round), beat(round + 0.5)] : [beat(round + 0.5), beat(round)];
    };
  },
  'one arm noisier than the other': (random) => () => [0.02 * normal(random), 0.1 * normal(random)],
  'invocations that fail to settle': (random) => {
    let [last, slow] = [-1, [0, 0] as [number, number]];
    return (invocation) => {
      if (invocation !== last) {
        last = invocation;
        slow = [0, 0].map(() => (random.uniform() < 0.15 ? 0.4 * random.uniform() : 0)) as [number, number];
      }
      return [slow[0] + 0.04 * normal(random), slow[1] + 0.04 * normal(random)];
    };
  },
} satisfies Record<string, TwoLevelNoise>;

interface Design {
  readonly invocations: number;
  readonly rounds: number;
  /** True ratio of the other to the baseline. */
  readonly ratio?: number;
  /** Standard deviation of the lasting speed difference of each process; 0.05 is about 5 %. */
  readonly invocationEffect?: number;
}

/** Generates one measurement: rounds of both arms by invocation. */
export function twoLevels(
  { invocations, rounds, ratio = 1, invocationEffect = 0 }: Design,
  noise: TwoLevelNoise,
  random: Random,
): { baseline: number[][]; other: number[][] } {
  const next = noise(random);
  const [baseline, other]: [number[][], number[][]] = [[], []];
  for (let invocation = 0; invocation < invocations; invocation++) {
    const process = [invocationEffect * normal(random), invocationEffect * normal(random)] as const;
    const both = Array.from({ length: rounds }, () => next(invocation));
    baseline.push(both.map(([own]) => Math.exp(process[0] + own)));
    other.push(both.map(([, own]) => ratio * Math.exp(process[1] + own)));
  }
  return { baseline, other };
}
