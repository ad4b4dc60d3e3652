import { expect, test } from 'vitest';
import type { z } from 'zod';
import { estimateSeconds, listLoads } from './loads.ts';
import { reportRelay } from './relay-page.ts';
import type { RelayOutcome, RelayResults } from './relay-rounds.ts';
import { type Sample, sampleSchema } from './sample.ts';
import { TARGET_NAMES, type TargetName } from './targets.ts';
import { listUnsureLoads, listVerdicts } from './verdicts.ts';

type Measured = z.input<typeof sampleSchema>;

const sample = (rate: number, rest: Partial<Measured> = {}): Sample =>
  sampleSchema.parse({
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
  } satisfies Measured);

/** Rates of each target in each cell, round by round. */
function resultsOf(
  rates: Partial<Record<TargetName, readonly number[]>>,
  rest: Partial<Measured> = {},
): RelayResults {
  const outcomes: RelayOutcome[] = listLoads(true, 2).flatMap((load) =>
    load.targets.flatMap((target) => {
      const values = rates[target];
      if (values === undefined) return [];
      const rounds = new Map(values.map((rate, round) => [round, sample(rate, rest)]));
      return [{ load, target, rounds, failures: [] }];
    }),
  );
  return { targets: [], rounds: 2, outcomes };
}

const verdict = (results: RelayResults, what: string) =>
  listVerdicts(results).find((each) => each.what === what);

test('beside a ratio stands what the C relay shows in the place of the flood', () => {
  const results = resultsOf({ flood: [100, 400], 'C relay': [200, 400], NATS: [20, 100] });
  expect(verdict(results, 'rate against NATS, N=4, 512 B')?.ofC).toEqual({ median: 7, low: 4, high: 10 });
  expect(verdict(results, 'rate against C, N=4, 512 B')?.ofC).toBeUndefined();
});

test('ratios are taken within a round', () => {
  const results = resultsOf({ flood: [100, 400, 900], NATS: [20, 100, 300] });
  expect(verdict(results, 'rate against NATS, N=4, 512 B')).toMatchObject({
    estimate: { median: 4, low: 3, high: 5 },
    verdict: 'reached',
  });
});

test.each([
  [[100, 120], 'aim reached'],
  [[30, 120], 'reached'],
  [[10, 120], 'cannot tell'],
  [[10, 15], 'not reached'],
] as const)('a verdict is about the whole interval: %j', (flood, expected) => {
  const results = resultsOf({ flood, NATS: [10, 10] });
  expect(verdict(results, 'rate against NATS, N=4, 512 B')?.verdict).toBe(expected);
});

test.each([
  [[19], 'not reached'],
  [[20], 'reached'],
  [[40], 'aim reached'],
] as const)('against NATS at the bounds: %j', ([rate], expected) => {
  const results = resultsOf({ flood: [rate], NATS: [10] });
  expect(verdict(results, 'rate against NATS, N=4, 512 B')?.verdict).toBe(expected);
});

test('what is to be small is reached from below', () => {
  const at = (mb: number) =>
    verdict(resultsOf({ flood: [1] }, { hub_peak_mb: mb }), 'peak RSS, N=4, the highest of all sizes')
      ?.verdict;
  expect([at(80), at(80.1)]).toEqual(['aim reached', 'not reached']);
});

test('what was not measured is not said to be reached', () => {
  expect(verdict(resultsOf({ flood: [1] }), 'rate against NATS, N=4, 512 B')).toMatchObject({
    estimate: undefined,
    verdict: 'not measured',
  });
});

test('the rate after a cut-off counts from half a second later on', () => {
  const tenths = [9, 9, 9, 0, 0, 5, 5, 7, 7, 7, 1];
  expect(sample(1, { cut_s: 0.2, tenths }).thousands_after_cut).toBe(0.07);
  expect(sample(1, { tenths }).thousands_after_cut).toBeNaN();
});

test('a generator that is hardly idle is in doubt unless it got more out of the C relay', () => {
  const unsure = (relay: number, idle_s: number) =>
    listUnsureLoads(resultsOf({ flood: [100], 'C relay': [relay] }, { idle_s }));
  expect(unsure(100, 0.5)).toEqual([]);
  expect(unsure(200, 0.01)).toEqual([]);
  expect(unsure(110, 0.01)).toContain('N=4, 512 B');
});

test('a full run takes at most ten minutes, with five rounds of what an interval is judged of', () => {
  const loads = listLoads(false, 5);
  expect(estimateSeconds(loads, TARGET_NAMES)).toBeLessThan(10 * 60);
  const judged = loads.filter(
    ({ agents, bytes, kind }) => kind !== 'throughput' || agents === 4 || (agents === 16 && bytes === 512),
  );
  const few = judged.filter(({ rounds }) => rounds < 5).map(({ name }) => name);
  // Its rounds are judged together with those of the same load before it.
  expect(few).toEqual(['12000 deliveries/s, once more']);
});

test('the tail is judged against a relay in Node with the same traffic', () => {
  const latency = (p99: number, p999: number): Sample =>
    sample(1, { latency_us: { samples: 1, p50: 1, p99, p999, max: 1 } });
  const outcomes = listLoads(true, 1)
    .filter(({ kind }) => kind === 'latency')
    .flatMap((load): RelayOutcome[] => [
      { load, target: 'flood', rounds: new Map([[0, latency(140, 900)]]), failures: [] },
      { load, target: 'Node relay', rounds: new Map([[0, latency(100, 300)]]), failures: [] },
    ]);
  const results = { targets: [], rounds: 1, outcomes };
  expect(verdict(results, 'p99 latency against the Node relay')).toMatchObject({
    estimate: { median: 1.4 },
    verdict: 'reached',
  });
  expect(verdict(results, 'p99.9 latency against the Node relay')).toMatchObject({
    estimate: { median: 3 },
    verdict: 'not reached',
  });
});

test('a run is set against its flood', () => {
  const rates = { run: [6, 6], flood: [10, 10] };
  expect(verdict(resultsOf(rates), 'rate of a run against its flood, N=4, 512 B')).toMatchObject({
    estimate: { median: 0.6 },
    verdict: 'aim reached',
  });
});

test('the report has each sample with its round, and says what was not there to be compared', () => {
  const { report } = reportRelay(resultsOf({ flood: [8, 9] }));
  expect(report.outcomes[0]?.samples).toMatchObject([
    { round: 0, rate: 8 },
    { round: 1, rate: 9 },
  ]);
  expect(report.missing).toEqual(['NATS', 'Redis']);
  expect(JSON.parse(JSON.stringify(report))).toMatchObject({ rounds: 2, verdicts: expect.any(Array) });
});

test('the page has a verdict for each figure', () => {
  const page = reportRelay(resultsOf({ flood: [8, 8], NATS: [2, 2] })).part.body;
  expect(page).toContain('| rate against NATS, N=4, 512 B | 4 | at least 2 (4) | aim reached |');
  expect(page).toContain('not measured');
});
