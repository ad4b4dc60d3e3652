import { describe, expect, test } from 'vitest';
import { evaluateThreshold, parseThreshold } from '../../../statistics/thresholds.ts';
import { parseComparison } from '../../comparison-file.ts';
import { buildTables, formatComparison, formatComparisonMarkdown } from '../../comparison-table.ts';
import { formatSummary } from '../../conditions/ci-reports.ts';

import { checkComparable, createThresholdFigures, judgeChanges } from '../../conditions/conditions.ts';
import { makeStacksFile } from '../testing/sample-stacks.ts';

const NAMES = ['mesh/json', 'a2a/jsonrpc', 'mcp/http', 'json/websocket'];
const file = makeStacksFile([
  { name: 'mesh/json', factor: 1 },
  { name: 'a2a/jsonrpc', factor: 3 },
  { name: 'mcp/http', factor: 1.001 },
  { name: 'json/websocket', factor: 2, isOverloaded: true },
]);

test('what is printed is what the file says when it is read back', () => {
  const again = parseComparison(JSON.stringify(file), 'again', 'stacks');
  expect(again).toEqual(file);
  expect(formatComparisonMarkdown(again)).toBe(formatComparisonMarkdown(file));
});

test('a network has a table of round trips, and what a first answer and an exchange took', () => {
  const [first, ...others] = file.arms;
  if (first === undefined) throw new Error('there are arms');
  const far = {
    ...first,
    settings: { ...first.settings, network: { rttMs: 40, bitsPerS: 100e6 } },
    setup: { ...first.setup, round_trips: 2, round_trips_per_exchange: 1, first_answer_ms: 121 },
  };
  const row = /^\| mesh\/json bare \| 2\.0 \| 1\.0 \| 121\.0 \| 0\.3 \|$/m;
  expect(formatComparisonMarkdown({ ...file, arms: [far, ...others] })).toMatch(row);
  expect(formatComparisonMarkdown(file)).not.toContain('Round trips');
});

test('the verdicts are about pairs, with their intervals; the null test is reported beside', () => {
  const [, a2a, mcp, websocket] = file.arms.map(({ vs_baseline }) => vs_baseline);
  expect(a2a?.time).toMatchObject({ verdict: 'different', invocations: 6, rounds: 3 });
  expect(a2a?.time?.ratio).toBeCloseTo(3, 1);
  expect(mcp?.time?.verdict).toBe('equivalent');
  expect(mcp?.cpu?.verdict).toBe('equivalent');
  expect(websocket).toMatchObject({ time: null, cpu: { verdict: 'different' } });
  expect(file.null_test.time?.verdict).toBe('equivalent');
  expect(file.sentence).toEqual(
    expect.stringMatching(
      /^Exchange time against mesh\/json bare: a2a\/jsonrpc bare is slower \([23]\.\d\d times, .*; mcp\/http bare is equal ±5 % \(1\.00 times, .*; json\/websocket bare did not keep up with the rate\.$/,
    ),
  );
});

test('of two stacks the sentence names the pair and has the interval', () => {
  const { sentence } = makeStacksFile([
    { name: 'mesh/json', factor: 1 },
    { name: 'a2a/jsonrpc', factor: 3 },
  ]);
  expect(sentence).toMatch(
    /^a2a\/jsonrpc bare is slower than mesh\/json bare: \d\.\d\d times its exchange time \(95 % interval \d\.\d\d–\d\.\d\d\)\.$/,
  );
});

test('a baseline that differs from itself hides what is not larger, and is named beside what is', () => {
  const judged = makeStacksFile(
    [
      { name: 'mesh/json', factor: 1 },
      { name: 'a2a/jsonrpc', factor: 1.12 },
      { name: 'mcp/http', factor: 1.5 },
      { name: 'json/websocket', factor: 0.9 },
    ],
    6,
    1.14,
  );
  for (const figure of ['time', 'cpu'] as const) {
    const verdicts = judged.arms.map(({ vs_baseline: vs }) => vs?.[figure]?.verdict);
    expect(verdicts).toEqual([undefined, 'cannot tell', 'different', 'cannot tell']);
  }
  expect(judged.sentence).toMatch(
    /mesh\/json bare against itself 1\.14.*mcp\/http bare is slower.*cannot tell for a2a\/jsonrpc bare and json/,
  );
  const outcome = (text: string) =>
    evaluateThreshold(parseThreshold(text), createThresholdFigures(judged, undefined)).outcome;
  expect(outcome('a2a/jsonrpc:bare.time > 1.05x mesh/json:bare')).toBe('cannot tell');
  expect(outcome('a2a/jsonrpc:bare.first > 1.05x mesh/json:bare')).toBe('cannot tell');
  expect(outcome('mcp/http:bare.time > 1.05x mesh/json:bare')).toBe('failed');
});

test('too few invocations give no verdict', () => {
  const few = makeStacksFile(
    [
      { name: 'mesh/json', factor: 1 },
      { name: 'a2a/jsonrpc', factor: 3 },
    ],
    4,
  );
  expect(few.arms[1]?.vs_baseline?.time?.verdict).toBe('cannot tell');
  expect(formatComparison(few)).toMatch(/A\sverdict\stakes\sat\sleast\s5\sinvocations\sof\s3\srounds/);
});

test('every byte is on a line', () => {
  for (const { bytes } of file.arms) {
    for (const { raw, tls, head, envelope, payload } of [bytes.sent, bytes.received]) {
      expect(tls + head + envelope + payload).toBe(raw);
    }
  }
});

describe('at a terminal', () => {
  const text = formatComparison(file);

  test('the tables and texts fit 80 columns', () => {
    const lines = text.split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    for (const name of NAMES) expect(text).toContain(`${name} bare`);
  });

  test('what is missing is named with its reason', () => {
    expect(text).toContain('not measured: mcp/http sdk: it needs @modelcontextprotocol/client');
    expect(text).toContain('FAILED: x/http sdk: 3 packets were sent, and 2 arrived');
  });
});

test('percentiles that the sample cannot hold are left out', () => {
  const [first] = file.arms;
  // 6 invocations of 3 rounds of 80 are 1,440; of one invocation, 240.
  expect(first?.latency_us?.p999).not.toBeNull();
  const [alone] = makeStacksFile([{ name: 'mesh/json', factor: 1 }], 1).arms;
  expect(alone?.latency_us).toMatchObject({ n: 240, p999: null });
  expect(alone?.latency_us?.p99).not.toBeNull();
});

test('conditions are about bytes to the unit and about times by their intervals', () => {
  const figures = createThresholdFigures(file, undefined);
  const outcomeOf = (text: string) => evaluateThreshold(parseThreshold(text), figures).outcome;
  expect(figures.arms[1]).toBe('a2a/jsonrpc:bare');
  expect(outcomeOf('a2a/jsonrpc:bare.bytes > 2x mesh/json:bare')).toBe('failed');
  expect(outcomeOf('a2a/jsonrpc:bare.time > 4x mesh/json:bare')).toBe('passed');
  expect(outcomeOf('a2a/jsonrpc:bare.cpu > 2x mesh/json:bare')).toBe('failed');
  expect(outcomeOf('mcp/http:bare.first > 3x mesh/json:bare')).toBe('passed');
  expect(() => outcomeOf('json/websocket:bare.time > 1')).toThrow('there is no figure for time');
});

test('a comparison that was saved is set against a later one of the same exchanges', () => {
  const saved = file;
  const later = makeStacksFile([
    { name: 'mesh/json', factor: 1 },
    { name: 'a2a/jsonrpc', factor: 6 },
  ]);
  const changes = judgeChanges(saved, later);
  expect(changes.map(({ name, judged }) => [name, judged?.verdict])).toEqual([
    ['mesh/json:bare', 'equivalent'],
    ['a2a/jsonrpc:bare', 'different'],
  ]);
  expect(changes[1]?.judged).toMatchObject({ ratio: expect.closeTo(2, 1) });
  const conditions = ['a2a/jsonrpc:bare.time > 1.5x saved', 'mesh/json:bare.bytes > 1x saved'].map((text) =>
    evaluateThreshold(parseThreshold(text), createThresholdFigures(later, saved)),
  );
  expect(conditions.map(({ outcome }) => outcome)).toEqual(['failed', 'passed']);
  const text = formatSummary(later, { conditions, changes });
  expect(text).toContain('Stacks on the same exchanges: `mesh/json bare`, `a2a/jsonrpc bare`');
  expect(text).toContain('| a2a/jsonrpc:bare.time > 1.5x saved | ❌ failed |');
  const other = { ...saved, rate_per_s: 50 };
  expect(() => checkComparable(other, later, 'base.json')).toThrow('the rate (then 50, now 200)');
  // An arm that did not keep up with the rate has no times to set against each other.
  expect(judgeChanges(saved, saved)[3]?.judged).toBeNull();
});

test('a line of CSV an arm, every number in full', () => {
  const [head = '', ...lines] = buildTables(file).csv.trim().split('\n');
  expect(lines).toHaveLength(NAMES.length);
  for (const line of lines) expect(line.split(',')).toHaveLength(head.split(',').length);
  expect(head).toContain('per_s_at_64');
});

test('another file is refused with what is wrong', () => {
  expect(() => parseComparison('{"kind":"x"}', 'here', 'stacks')).toThrow(
    'here is not the comparison.json of a comparison: kind: expected "adapters" or "stacks" or "teams"; make one with ',
  );
  expect(() => parseComparison('{', 'here', 'stacks')).toThrow('here: not JSON');
});
