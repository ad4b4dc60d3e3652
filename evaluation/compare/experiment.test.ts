import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { binomialBound } from '@gaia-mesh/core/testing/binomial.ts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type ArmsPlan, Experiment, type InvocationPlan } from './experiment.ts';

interface Played {
  readonly rounds: readonly number[];
}

interface Simulated extends Partial<Pick<ArmsPlan<Played>, 'together' | 'firstMs'>> {
  /** Plays a round of an arm; `round` counts from 0 in each invocation. */
  readonly play: (arm: string, plan: InvocationPlan, round: number) => Promise<void>;
  /** The arms; the first is the baseline. */
  readonly names?: readonly [string, ...string[]];
  readonly invocations?: number;
  readonly budgetMs?: number;
  readonly seed?: number;
}

// Time passes only while this process has its turn: on a busy machine, a round that takes no time fits in any case.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Waits until the time of an invocation is over. */
const hang = (_arm: string, { signal }: InvocationPlan): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

async function run({
  play,
  names: [baseline, ...others] = ['a', 'b', 'c'],
  together = 1,
  firstMs = 0,
  invocations = 3,
  budgetMs = 60_000,
  seed = 1,
}: Simulated) {
  const seen = { alive: 0, mostAlive: 0, notes: [] as string[], blocks: [] as string[][] };
  const createArm = (name: string): ArmsPlan<Played>['arms'][number] => ({
    name,
    open: async (plan) => {
      seen.alive += 1;
      seen.mostAlive = Math.max(seen.mostAlive, seen.alive);
      const rounds: number[] = [];
      return {
        begin: async () => undefined,
        warmUp: async () => undefined,
        round: async () => {
          await play(name, plan, rounds.length);
          rounds.push(rounds.length);
        },
        result: () => ({ rounds }),
        stop: async () => {
          seen.alive -= 1;
        },
      };
    },
  });
  const plan: ArmsPlan<Played> = {
    arms: [createArm(baseline), ...others.map(createArm)],
    design: { invocations, rounds: 2, budgetMs },
    together,
    firstMs,
    planBlock: async () => 0,
  };
  const measured = await new Experiment(plan, {
    random: new Random(seed),
    onProgress: () => undefined,
    onBlock: (own) => {
      seen.blocks.push(own.map(({ arm, isNull }) => `${arm}${isNull ? ' again' : ''}`));
    },
    onNote: (note) => seen.notes.push(note),
    signal: new AbortController().signal,
  }).run();
  const counts = Object.fromEntries(
    [...measured.invocations].map(([name, own]) => [name, own.map(({ rounds }) => rounds.length)]),
  );
  return { ...measured, counts, seen };
}

test('plays every arm once a block and the baseline twice, as many together as may be alive', async () => {
  for (const together of [1, 2, 4]) {
    const { counts, nullArm, stopped, seen } = await run({ play: async () => undefined, together });
    expect(counts).toEqual({ a: [2, 2, 2], b: [2, 2, 2], c: [2, 2, 2] });
    expect({ nulls: nullArm.length, stopped, ...seen }).toMatchObject({
      ...{ nulls: 3, stopped: 'invocations', alive: 0, mostAlive: together },
    });
    for (const block of seen.blocks) expect(block.toSorted()).toEqual(['a', 'a again', 'b', 'c']);
    expect(seen.blocks).toHaveLength(3);
  }
});

test('leaves out an arm whose first round does not fit, and keeps the others', async () => {
  const play: Simulated['play'] = async (arm, plan) => (arm === 'b' ? hang(arm, plan) : undefined);
  const { counts, failed, seen } = await run({ play, budgetMs: 150 });
  expect(Object.keys(counts)).toEqual(['a', 'c']);
  expect(failed).toEqual(['b: a first round does not fit into its share of 0 s: give --budget 1 or more']);
  expect(seen.alive).toBe(0);
});

test('keeps the rounds that were complete when the time was over, as many of each arm', async () => {
  const play: Simulated['play'] = async (arm, plan, round) =>
    arm === 'b' && round === 1 ? hang(arm, plan) : undefined;
  const { counts, failed } = await run({ play, invocations: 1, budgetMs: 150 });
  expect({ counts, failed }).toEqual({ counts: { a: [1], b: [1], c: [1] }, failed: [] });
});

test('ends before a block that is not complete in time', async () => {
  const play: Simulated['play'] = async (arm, plan) =>
    arm === 'c' && plan.block === 1 ? hang(arm, plan) : undefined;
  const { counts, stopped, failed } = await run({ play, budgetMs: 150 });
  expect({ counts, stopped, failed }).toEqual({
    ...{ counts: { a: [2], b: [2], c: [2] }, stopped: 'budget', failed: [] },
  });
});

test('plays a lost connection again, three times at most, and names the arm that fails then', async () => {
  let losses = 0;
  const play: Simulated['play'] = async (arm, { block }) => {
    if (arm === 'b' && block === 1 && losses < 2) {
      losses += 1;
      throw new MeshError('agent', 'the server ended');
    }
    if (arm === 'c' && block === 2) throw new MeshError('agent', 'no answer');
  };
  const { counts, failed, lost, seen } = await run({ play });
  expect(counts).toEqual({ a: [2, 2, 2], b: [2, 2, 2] });
  expect({ failed, lost }).toEqual({ failed: ['c: no answer'], lost: 4 });
  expect(seen.notes).toContain('an invocation was lost and is played again: the server ended');
});

const atOnce: Simulated['play'] = async () => undefined;

test('draws the same blocks for the same seed, and others for another', async () => {
  const draw = async (seed: number) => (await run({ play: atOnce, invocations: 10, seed })).seen.blocks;
  expect(await draw(7)).toEqual(await draw(7));
  expect(await draw(7)).not.toEqual(await draw(8));
});

test('puts every run, the null run too, at every place equally often', async () => {
  const [seed, invocations] = [9, 2000];
  const { seen } = await run({ play: atOnce, together: 4, invocations, seed });
  const counts = new Map<string, number>();
  for (const block of seen.blocks)
    for (const [place, own] of block.entries())
      counts.set(`${own} at ${place}`, (counts.get(`${own} at ${place}`) ?? 0) + 1);
  expect(counts.size).toBe(16);
  const { low, high } = binomialBound(invocations, 1 / 4, 1e-4);
  for (const [key, count] of counts) {
    expect(count, `${key}, seed ${seed}`).toBeGreaterThanOrEqual(low);
    expect(count, `${key}, seed ${seed}`).toBeLessThanOrEqual(high);
  }
});

test('compares a baseline that is alone with itself', async () => {
  const { seen } = await run({ play: atOnce, names: ['a'], invocations: 1 });
  expect(seen.blocks.map((block) => block.toSorted())).toEqual([['a', 'a again']]);
});
