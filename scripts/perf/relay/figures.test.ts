import { expect, test } from 'vitest';
import { rateAfterCut, spreadOf, verdictsOf } from './figures.ts';
import { unsureLoads } from './generator-limit.ts';
import type { Sample } from './measure-relay.ts';
import { planOf, planSeconds, roundsOf } from './plan.ts';
import { relayPage } from './relay-page.ts';
import { relayReport } from './relay-report.ts';
import type { Outcome, RelayResults } from './run-rounds.ts';
import type { TargetName } from './targets.ts';

const sample = (rate: number, rest: Partial<Sample> = {}): Sample => ({
  seconds: 1,
  delivered: rate,
  rate,
  sent: rate,
  wanted: rate,
  came: rate,
  bad: 0,
  hub_cpu_s: 0.5,
  own_cpu_s: 0.5,
  idle_s: 0.5,
  hub_peak_mb: 70,
  cut_s: -1,
  tenths: [],
  ...rest,
});

/** Rates of each target in each cell, round by round. */
function resultsOf(
  rates: Partial<Record<TargetName, readonly number[]>>,
  rest: Partial<Sample> = {},
): RelayResults {
  const outcomes: Outcome[] = planOf(true).flatMap((cell) =>
    cell.targets.flatMap((target) => {
      const values = rates[target];
      if (values === undefined) return [];
      const rounds = new Map(values.map((rate, round) => [round, sample(rate, rest)]));
      return [{ cell, target, rounds, faults: [] }];
    }),
  );
  return { targets: [], rounds: 2, outcomes, wakes: [] };
}

const verdict = (results: RelayResults, what: string) =>
  verdictsOf(results).find((each) => each.what === what);

test('a spread is the median and the range, and nothing where nothing was measured', () => {
  expect(spreadOf([3, 1, 2])).toEqual({ median: 2, low: 1, high: 3 });
  expect(spreadOf([4, 1, 2, 3])).toEqual({ median: 2.5, low: 1, high: 4 });
  expect(spreadOf([Number.NaN])).toBeUndefined();
});

test('beside a ratio stands what the C relay shows in the place of the hub', () => {
  const results = resultsOf({ hub: [100, 400], 'C relay': [200, 400], NATS: [20, 100] });
  expect(verdict(results, 'rate against NATS, N=4, 512 B')?.ofC).toEqual({ median: 7, low: 4, high: 10 });
  expect(verdict(results, 'rate against C, N=4, 512 B')?.ofC).toBeUndefined();
});

test('ratios are taken within a round', () => {
  const results = resultsOf({ hub: [100, 400, 900], NATS: [20, 100, 300] });
  expect(verdict(results, 'rate against NATS, N=4, 512 B')).toMatchObject({
    spread: { median: 4, low: 3, high: 5 },
    verdict: 'reached',
  });
});

test.each([
  [[59], 'not reached'],
  [[60], 'aim reached'],
] as const)('against NATS at the aim itself: %j', ([rate], expected) => {
  const results = resultsOf({ hub: [rate], NATS: [10] });
  const found = verdict(results, 'rate against NATS, N=4, 512 B');
  expect(found?.verdict).toBe(rate >= 60 ? expected : 'reached');
});

test('what is to be small is reached from below', () => {
  const at = (mb: number) =>
    verdict(resultsOf({ hub: [1] }, { hub_peak_mb: mb }), 'peak RSS, N=4, the highest of all sizes')?.verdict;
  expect([at(80), at(80.1)]).toEqual(['aim reached', 'not reached']);
});

test('what was not measured is not said to be reached', () => {
  expect(verdict(resultsOf({ hub: [1] }), 'rate against NATS, N=4, 512 B')).toMatchObject({
    spread: undefined,
    verdict: 'not measured',
  });
});

test('the rate after a cut-off counts from half a second later on', () => {
  const tenths = [9, 9, 9, 0, 0, 5, 5, 7, 7, 7, 1];
  expect(rateAfterCut(sample(1, { cut_s: 0.2, tenths }))).toBe(70);
  expect(rateAfterCut(sample(1, { tenths }))).toBeNaN();
});

test('agents in Node are measured apart from those in C', () => {
  const results = resultsOf({ hub: [100], NATS: [20] });
  const outcomes = results.outcomes.map((outcome) =>
    outcome.cell.kind === 'Node agents' && outcome.target === 'hub'
      ? { ...outcome, rounds: new Map([[0, sample(60)]]) }
      : outcome,
  );
  const what = 'rate against NATS, Node processes with its official client as agents, N=4, 512 B';
  expect(verdict({ ...results, outcomes }, what)).toMatchObject({
    spread: { median: 3 },
    verdict: 'not reached',
  });
});

test('a generator that is hardly idle is in doubt unless it got more out of the C relay', () => {
  const unsure = (relay: number, idle_s: number) =>
    unsureLoads(resultsOf({ hub: [100], 'C relay': [relay] }, { idle_s }));
  expect(unsure(100, 0.5)).toEqual([]);
  expect(unsure(200, 0.01)).toEqual([]);
  expect(unsure(110, 0.01)).toContain('N=4, 512 B');
});

test('a full run takes at most half an hour, with five rounds of what the figures are taken from', () => {
  const cells = planOf(false);
  expect(planSeconds(cells, 5)).toBeLessThan(30 * 60);
  const few = cells.filter((cell) => roundsOf(cell, 5) < 5);
  expect(few.map(({ name }) => name)).toEqual(['N=16, 1 MiB', 'N=64, 1 MiB']);
});

test('the report has each sample with its round, and says what was not there to be compared', () => {
  const report = relayReport(resultsOf({ hub: [8, 9] }));
  expect(report.outcomes[0]?.samples).toMatchObject([
    { round: 0, rate: 8 },
    { round: 1, rate: 9 },
  ]);
  expect(report.missing).toEqual(expect.arrayContaining(['NATS', 'ZeroMQ']));
  expect(JSON.parse(JSON.stringify(report))).toMatchObject({ rounds: 2, verdicts: expect.any(Array) });
});

test('the page has a verdict for each figure', () => {
  const page = relayPage(resultsOf({ hub: [8, 8], NATS: [2, 2] }), 'abc', true);
  expect(page).toContain('| rate against NATS, N=4, 512 B | 4 | at least 4 (6) | reached |');
  expect(page).toContain('not measured');
});
