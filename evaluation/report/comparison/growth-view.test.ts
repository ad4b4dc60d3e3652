import { expect, test } from 'vitest';
import { parseAdapters } from '../../compare/comparison-file.ts';
import { sampleComparison } from '../../compare/testing/sample-comparison.ts';
import { buildGrowthView } from './growth-view.ts';

const cell = (adapter: string, agents: number, rest: object = {}) => ({
  team: 'pipeline',
  engine: 'extractive',
  agents,
  adapter,
  bytes_per_task: 1000 * agents,
  ms_per_task: agents / 2,
  time_ratio: 1,
  time_verdict: 'baseline',
  ...rest,
});

async function viewOf(matrix: readonly object[]) {
  const comparison = { ...(await sampleComparison(['json', 'msgpack'], 'x')), matrix };
  return buildGrowthView(parseAdapters(JSON.stringify(comparison), 'sample'));
}

test('a line an adapter, fewest agents first, and what the baseline’s comes to', async () => {
  const view = await viewOf([cell('json', 64), cell('msgpack', 64), cell('json', 4), cell('msgpack', 4)]);
  expect(view?.finding.replaceAll('\u00a0', ' ')).toBe(
    '64 agents instead of 4: 16.0× the bytes and 16.0× the time of a task (json)',
  );
  expect(view?.lines.map(({ adapter, points }) => [adapter, points.map(({ agents }) => agents)])).toEqual([
    ['json', [4, 64]],
    ['msgpack', [4, 64]],
  ]);
  expect(view?.table.rows).toHaveLength(4);
});

test('runs of several teams are a table: their agents are not on one line', async () => {
  const view = await viewOf([cell('json', 4), cell('msgpack', 4), cell('json', 3, { team: 'trio' })]);
  expect(view?.lines).toEqual([]);
  expect(view?.table.rows[2]?.[0]).toBe('trio');
});

test('a comparison of one run has none', async () => {
  expect(await viewOf([cell('json', 4), cell('msgpack', 4)])).toBeNull();
  expect(await viewOf([])).toBeNull();
});
