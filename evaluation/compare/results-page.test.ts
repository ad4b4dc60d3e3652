import { describe, expect, test } from 'vitest';
import { buildComparisonPart } from './comparison-table.ts';
import { sampleFile } from './testing/sample-comparison.ts';
import { tableBelow } from './testing/table-below.ts';

const report = await sampleFile(['json', 'msgpack+crc32c', 'a2a', 'mcp'], 'pipeline');
describe('the results page', () => {
  const { facts, limits, body: page } = buildComparisonPart(report);

  test('says of what it was measured', () => {
    expect(facts).toBe(
      'team pipeline, engine extractive, 4 agents; 1 packet of 1 task; 10 invocations of each adapter in fresh processes (all that were requested), 3 rounds in each, 20 passes a round; seed 1',
    );
    expect(page).toContain('anp is slower than json.');
  });

  test('has a row an adapter', () => {
    const [head, , ...rows] = tableBelow(page, 'Adapters');
    expect(head).toContain('verdict');
    expect(rows.map(([adapter]) => adapter)).toEqual(['json', 'msgpack+crc32c', 'a2a', 'mcp']);
    for (const row of rows) expect(row).toHaveLength(head?.length ?? 0);
    expect(rows[2]?.slice(-4)).toEqual(['1.40', '1.30–1.50', '1.15', 'slower']);
  });

  test('shows parts of bytes that sum to the wire', () => {
    const [, , ...rows] = tableBelow(page, 'Where the bytes are');
    expect(rows).toHaveLength(4);
    for (const [adapter, ...cells] of rows) {
      const numbers = cells.map((cell) => Number(cell.replaceAll(',', '')));
      const wire = numbers.pop();
      expect(
        numbers.reduce((sum, bytes) => sum + bytes),
        adapter,
      ).toBe(wire);
    }
  });

  test('explains the null test in a sentence, with its numbers', () => {
    expect(page).toContain(
      'json against itself, in separate processes: 1.010 times (0.97–1.04), as expected',
    );
    const { time } = report.null_test;
    if (time === null) throw new Error('the sample has a null test');
    const differs = {
      ...report,
      null_test: { ...report.null_test, time: { ...time, verdict: 'different' as const } },
    };
    expect(buildComparisonPart(differs).body).toContain('no difference of a similar size is called');
  });

  test('says what the numbers cannot tell', () => {
    for (const limit of [
      'Loopback is not a network',
      'compare --stacks measures',
      'Broadcast',
      'one recorded run',
      'shared 2 cores',
    ])
      expect(limits.join('\n')).toContain(limit);
  });
});
