import { adapterNames } from '@gaia-mesh/protocols/registry.ts';
import { describe, expect, test } from 'vitest';
import { buildTables, formatComparison, formatComparisonMarkdown } from './comparison-table.ts';
import { describeTaskShare, formatHeadline, formatVerdicts } from './comparison-text.ts';
import { sampleFile } from './testing/sample-comparison.ts';

const sampled = (await sampleFile(['json', 'msgpack'])).arms[1]?.vs_baseline;
if (sampled?.time == null) throw new Error('the sample has a pair');
const time0 = sampled.time;

describe('the outputs of a comparison', () => {
  test('fit a terminal of 100 columns, with every adapter that there is', async () => {
    const text = formatComparison(await sampleFile(adapterNames, 'pipeline'));
    const table = text.split('\n\n')[0]?.trim().split('\n') ?? [];
    expect(table).toHaveLength(adapterNames.length + 1);
    for (const line of table) expect(line.length, line).toBeLessThanOrEqual(100);
  });

  test('have the interval and the smallest difference that could be shown beside every verdict', async () => {
    const file = await sampleFile(['json', 'msgpack', 'anp']);
    expect(formatComparison(file)).toMatch(/1\.40 +1\.30–1\.50 +1\.15 +slower/);
    expect(formatComparisonMarkdown(file)).toContain('| 1.40 | 1.30–1.50 | 1.15 | slower |');
    const [head = '', , msgpack = ''] = buildTables(file).csv.split('\n');
    expect(msgpack.split(',')[head.split(',').indexOf('time_detectable')]).toBe('1.15');
  });
});

test.each(['=1+2', '+1', '-1', '@SUM(A1)', '\t=1', ' =1', '=1,"2"'])(
  'a name that a spreadsheet would run is text in a CSV file: %j',
  async (name) => {
    const file = await sampleFile(['json']);
    const arms = file.arms.map((row) => ({ ...row, name }));
    const [, line = ''] = buildTables({ ...file, arms }).csv.split('\n');
    expect(line).toMatch(/^"?'/);
  },
);

test('bytes are shown by kind and by size where there are several, against the baseline of the same group', async () => {
  const file = await sampleFile(['json', 'msgpack']);
  const groups = (scale: number) => ({
    by_part: ['chatty', 'tables'].map((name, at) => ({
      name,
      packets: 2,
      payload: 10,
      wire: 100 * (1 + at * scale),
    })),
    by_size: ['below 256 B', '8 KiB and more'].map((name) => ({
      name,
      packets: 4,
      payload: 20,
      wire: 300 * scale,
    })),
  });
  const arms = file.arms.map((row, at) => ({ ...row, ...groups(1 + at) }));

  const text = formatComparisonMarkdown({ ...file, arms });
  expect(text).toContain('| msgpack | 1.00 | 1.50 |');
  expect(text).toContain('| msgpack | 2.00 | 2.00 |');
  expect(formatComparisonMarkdown(file)).not.toContain('Bytes by kind');
});

test('how much of a task it is about is said where it is known', async () => {
  const file = await sampleFile(['json', 'anp']);
  expect(describeTaskShare(file)).toBe(
    'A task takes 100.0 ms with its tools; its packets through json take 5.0 ms of that.',
  );
  expect(describeTaskShare({ ...file, task_ms: 5 })).toBe(
    'The packets of a task take 5.0 ms through json; the time of its tools is not known.',
  );
});

describe('the sentence', () => {
  const pair = (name: string, time: Partial<typeof time0>) => ({
    name,
    vs_baseline: { ...sampled, time: { ...time0, low: 1.02, high: 1.19, ratio: 1.12, ...time } },
  });
  const baseline = { name: 'json', vs_baseline: null };
  const said = (...pairs: ReturnType<typeof pair>[]) =>
    formatVerdicts({
      kind: 'adapters',
      baseline: 'json',
      invocations: 10,
      elapsed_ms: 20_000,
      arms: [baseline, ...pairs],
    });

  test.each([
    [
      { verdict: 'different' as const },
      'cbor is slower than json: 1.12 times its task time (95 % interval 1.02–1.19).',
    ],
    [
      { verdict: 'equivalent' as const, ratio: 1.01, low: 0.98, high: 1.04 },
      'cbor is as fast as json within ±5 %: 1.01 times its task time (95 % interval 0.98–1.04).',
    ],
    [
      { verdict: 'cannot tell' as const, needed: 24, low: 0.9 },
      'Cannot tell whether cbor is faster or slower than json: 1.12 times its task time (95 % interval 0.90–1.19); a factor of 1.15 would have been shown. If the ratio is as measured, 24 invocations give a verdict in four of five measurements: --invocations 24 --budget 48.',
    ],
    [
      { verdict: 'cannot tell' as const, invocations: 2, needed: 5, low: 0, high: null, detectable: null },
      'Cannot tell whether cbor is faster or slower than json: 1.12 times its task time (too few samples for an interval). A verdict takes at least 5 invocations of 3 rounds, and may take more: --invocations 5 --budget 10.',
    ],
    [
      { verdict: 'cannot tell' as const, needed: 10, rounds: 1, low: 0, high: null, detectable: null },
      'Cannot tell whether cbor is faster or slower than json: 1.12 times its task time (too few samples for an interval). A verdict takes at least 5 invocations of 3 rounds, and may take more: --invocations 10 --rounds 3 --budget 60.',
    ],
    [
      { verdict: 'cannot tell' as const, needed: null, low: 0, high: null, detectable: null },
      'Cannot tell whether cbor is faster or slower than json: 1.12 times its task time (too few samples for an interval). A verdict would take an impractical number of invocations.',
    ],
  ])('about a pair has all its numbers: %o', (time, sentence) => {
    expect(said(pair('cbor', time))).toBe(sentence);
  });

  test('about several names each pair with its verdict and interval, and ranks none', () => {
    const all = [
      pair('toon', { verdict: 'different', ratio: 3, low: 2.8, high: 3.2 }),
      pair('msgpack', { verdict: 'equivalent', ratio: 1, low: 0.97, high: 1.03 }),
      pair('cbor', { verdict: 'cannot tell' }),
      pair('mcp', { verdict: 'cannot tell' }),
    ];
    expect(said(...all)).toBe(
      'Task time against json: toon is slower (3.00 times, 2.80–3.20); msgpack is equal ±5 % (1.00 times, 0.97–1.03); cannot tell for cbor and mcp.',
    );
  });

  test('is left out where it could say nothing', () => {
    expect(
      said(pair('cbor', { verdict: 'cannot tell' }), pair('mcp', { verdict: 'cannot tell' })),
    ).toBeNull();
  });
});

describe('beside a baseline that differs from itself', () => {
  const nullArm = { ratio: 1.137, low: 1.02, high: 1.27 };
  const facts = (time: object) => ({
    kind: 'adapters' as const,
    baseline: 'json',
    invocations: 10,
    elapsed_ms: 40_000,
    arms: [
      { name: 'json', vs_baseline: null },
      { name: 'mcp', vs_baseline: { ...sampled, time: { ...time0, nullArm, ...time } } },
    ],
  });

  test('a larger difference says how much that is', () => {
    const time = { ratio: 1.6, low: 1.5, high: 1.7, verdict: 'different' as const };
    expect(formatVerdicts(facts(time))).toBe(
      'mcp is slower than json: 1.60 times its task time (95 % interval 1.50–1.70; json against itself 1.14, 1.02–1.27).',
    );
    const { arms, ...rest } = facts(time);
    const several = { ...rest, arms: [...arms, ...arms.slice(1)] };
    expect(formatVerdicts(several)).toMatch(
      /^Task time against json \(json against itself 1\.14, 1\.02–1\.27\): mcp/,
    );
  });

  test('a smaller one cannot be told, and more invocations would not help', () => {
    const time = { ratio: 1.17, low: 1.12, high: 1.22, verdict: 'cannot tell' as const, needed: null };
    expect(formatVerdicts(facts(time))).toMatch(
      /^Cannot tell whether mcp is faster or slower .*json against itself 1\.14.* The baseline differs from itself by as much/,
    );
  });
});

describe('the headline of a comparison', () => {
  test('has the exact bytes and groups arms by their verdicts', async () => {
    const file = await sampleFile(['json', 'msgpack', 'cbor', 'anp']);

    expect(formatHeadline(file)).toMatch(
      /^msgpack takes 0\.\d\d× the bytes of json, anp \d\.\d\d×; whether msgpack is faster or slower cannot be told yet; cbor and anp are slower$/,
    );
  });

  test('names arms that cost the same once, and says when there is nothing to compare', async () => {
    const file = await sampleFile(['json', 'json']);
    const [baseline] = file.arms;

    expect(formatHeadline(file)).toMatch(/^json takes as many bytes as json; /);
    expect(formatHeadline({ ...file, arms: baseline === undefined ? [] : [baseline] })).toBe(
      'Nothing was compared with json',
    );
  });
});
