import { expect, test } from 'vitest';
import { attemptOf, questionOf } from '../batch/testing/results.ts';
import { formatComparison, formatComparisonMarkdown } from '../compare/comparison-table.ts';
import { formatJunit } from '../compare/conditions/ci-reports.ts';
import { makeStacksFile } from '../compare/stacks/testing/sample-stacks.ts';
import { sampleFile } from '../compare/testing/sample-comparison.ts';
import { summarize } from '../results/summary.ts';
import { formatBatchTable } from '../results/tables/batch-table.ts';

/** Foreign text with the start of a line of its own. */
const LINE = '\n@@\u001b[31m';

/** The fields with a closed set of values. */
const CLOSED = new Set(['verdict', 'outcome', 'stopped', 'shape', 'form', 'source', 'status', 'kind']);

/** Returns `value` with {@link LINE} at the end of every text in it. */
function spoil<T>(value: T): T;
function spoil(value: unknown): unknown {
  if (typeof value === 'string') return value + LINE;
  if (Array.isArray(value)) return value.map(spoil);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, CLOSED.has(key) ? item : spoil(item)]),
  );
}

test('no text from elsewhere begins a line of output, wherever it stands', async () => {
  const comparison = await sampleFile(['json', 'cbor']);
  const stacks = makeStacksFile([
    { name: 'mesh/json', factor: 1 },
    { name: 'a2a/jsonrpc', factor: 2 },
  ]);
  const questions = [questionOf('a', { level: '1' }), questionOf('b', { level: '2' })];
  const results = [
    attemptOf('a', {
      status: 'failed',
      reason: 'none',
      failed_role: 'planner',
      tool_calls: [{ tool: 'search', count: 1, failed: 1 }],
    }),
    attemptOf('b', {}),
  ];
  const { team } = summarize(questions, 1, ({ taskId }) => results.find((one) => one.task_id === taskId));
  const found = [{ text: 'mcp: bytes > 1', outcome: 'failed' as const, found: 'x' }];
  for (const [name, format] of Object.entries({
    'a comparison': (change: typeof spoil) => formatComparison(change(comparison)),
    'a comparison in Markdown': (change: typeof spoil) => formatComparisonMarkdown(change(comparison)),
    'a comparison of stacks': (change: typeof spoil) => formatComparison(change(stacks)),
    'a comparison of stacks in Markdown': (change: typeof spoil) => formatComparisonMarkdown(change(stacks)),
    'the results of teams': (change: typeof spoil) => formatBatchTable({ [change('team')]: change(team) }),
    'a JUnit report': (change: typeof spoil) => formatJunit({ kind: 'stacks' }, change(found)),
  })) {
    const plain = format((value) => value);
    const spoiled = format(spoil);
    expect(spoiled, name).toContain('@@');
    expect(spoiled, name).not.toMatch(/^\W*@@/m);
    expect(plain, name).not.toContain('@@');
  }
});
