import { Random } from '@gaia-mesh/core/system/random.ts';
import { loadStack } from '@gaia-mesh/stacks/registry.ts';
import { expect, test } from 'vitest';
import { Experiment } from '../experiment.ts';
import { combineArms } from './arms.ts';
import { parseFactors } from './factors.ts';
import { StackArms } from './stack-arms.ts';
import { buildSyntheticWorkload } from './workload.ts';

const BUDGET_MS = 8_000;

test('keeps the budget by fewer rounds, whatever an exchange takes, and says so', async () => {
  // Every exchange takes 300 ms: all steps of one invocation would take over a minute.
  const chosen = [{ stack: await loadStack('json/http1', 'bare') }];
  const { arms } = combineArms(chosen, parseFactors(['work=300']));
  const [baseline] = arms;
  if (baseline === undefined) throw new Error('expected an arm');
  const { exchanges } = buildSyntheticWorkload(256, 1);
  const startMs = performance.now();
  const own = new StackArms({
    arms: [baseline],
    exchangesOf: () => exchanges,
    identity: null,
    concurrency: [1, 4],
    ratePerS: 200,
    design: { budgetMs: BUDGET_MS, invocations: 5, rounds: 9 },
  });
  const { invocations, nullArm, stopped, warnings, failed } = await new Experiment({
    ...own.plan(),
    random: new Random(1),
    onProgress: () => undefined,
    onNote: () => undefined,
    signal: new AbortController().signal,
  }).run();
  expect(performance.now() - startMs).toBeLessThan(1.25 * BUDGET_MS);
  expect({ stopped, failed }).toEqual({ stopped: 'budget', failed: [] });
  const [first] = invocations.get(baseline.name) ?? [];
  expect(first?.rounds.length).toBeGreaterThan(0);
  expect(first?.rounds.length).toBe(nullArm[0]?.rounds.length);
  expect(warnings.join()).toMatch(/the budget of 8 s allowed \d of 9 rounds in 1 of 5 invocations/);
}, 60_000);

test('leaves out concurrencies whose exchanges would fill the memory', async () => {
  const chosen = [{ stack: await loadStack('json/unix', 'bare') }];
  const { arms } = combineArms(chosen, parseFactors([]));
  const [baseline] = arms;
  const [exchange] = buildSyntheticWorkload(256, 1).exchanges;
  if (baseline === undefined || exchange === undefined) throw new Error('expected an arm and an exchange');
  const payload = { text: 'x'.repeat(3 * 1024 * 1024) };
  const own = new StackArms({
    arms: [baseline],
    exchangesOf: () => [{ ...exchange, request: { ...exchange.request, payload } }],
    identity: null,
    concurrency: [1, 4, 16],
    ratePerS: 200,
    design: { budgetMs: BUDGET_MS, invocations: 1, rounds: 1 },
  });
  expect(own.concurrency).toEqual([1, 4]);
  expect(own.warnings).toContainEqual(expect.stringContaining('concurrency 16 was left out'));
});
