import path from 'node:path';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { expect, test } from 'vitest';
import { Experiment } from '../experiment.ts';
import { combineArms, parseFactors } from './arms.ts';
import { computeArmFigures } from './figures/arm-figures.ts';
import { attributeArms, formatAttribution } from './figures/stack-attribution.ts';
import { StackArms } from './stack-arms.ts';
import { stacks } from './testing/planted.ts';
import { buildSyntheticWorkload } from './workload.ts';

const FILE = path.join(import.meta.dirname, 'testing', 'planted.ts');
const SEED = 1;
const TIMEOUT_MS = 240_000;
/** Different exchanges: a pass through them, in which bytes are counted, takes no longer than it has to. */
const EXCHANGES = 5;
const CONCURRENCY = [4];
/** Equal within so much, as `compare` has it. */
const MARGIN = 0.05;

/** Each end of each arm is a process of its own, as in `compare --stacks`. */
test(
  'a history that a server copies for each message is found in the protocol that it was planted in',
  async () => {
    const { arms } = combineArms(
      stacks.map((stack) => ({ stack, file: FILE })),
      parseFactors([]),
    );
    const [baseline, ...others] = arms;
    if (baseline === undefined) throw new Error('there are arms');
    const answers = buildSyntheticWorkload(64, SEED).exchanges;
    const exchanges = buildSyntheticWorkload(4096, SEED)
      .exchanges.slice(0, EXCHANGES)
      .map(({ request, replies }, index) => ({ request, replies: answers[index]?.replies ?? replies }));

    const planted = new StackArms({
      arms: [baseline, ...others],
      exchangesOf: () => exchanges,
      identity: null,
      concurrency: CONCURRENCY,
      ratePerS: 400,
      design: { budgetMs: Infinity, invocations: 6, rounds: 3 },
      measuredMs: 400,
      hasCurve: false,
    });
    const { invocations } = await new Experiment(planted.plan(), {
      random: new Random(SEED),
      onProgress: () => undefined,
      onNote: () => undefined,
      signal: new AbortController().signal,
    }).run();

    const figures = arms.map((arm) =>
      computeArmFigures(arm, exchanges, invocations.get(arm.name) ?? [], CONCURRENCY),
    );
    // The last arm differs from the baseline in everything that the comparison varies.
    const attributions = attributeArms(figures, MARGIN).filter(({ arm }) => arm === arms.at(-1)?.name);
    const blamed = attributions
      .flatMap(({ shares }) => shares)
      .filter(({ verdict }) => verdict === 'contributes')
      .map(({ factor }) => factor);
    expect([...new Set(blamed)], attributions.map(formatAttribution).join('\n')).toEqual(['protocol']);
  },
  TIMEOUT_MS,
);
