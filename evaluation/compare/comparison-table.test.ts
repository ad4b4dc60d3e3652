import { describe, expect, test } from 'vitest';
import { adapterNames } from '../../protocols/registry.ts';
import { comparisonMarkdown, comparisonText } from './comparison-table.ts';
import { adaptersCsv } from './csv.ts';
import { sampleFile } from './testing/sample-comparison.ts';
import { sentenceOf } from './verdict-text.ts';

describe('the outputs of a comparison', () => {
  test('fit a terminal of 100 columns, with every adapter that there is', async () => {
    const text = comparisonText(await sampleFile(adapterNames, 'pipeline'));
    const table = text.split('\n\n')[0]?.trim().split('\n') ?? [];
    expect(table).toHaveLength(adapterNames.length + 1);
    for (const line of table) expect(line.length, line).toBeLessThanOrEqual(100);
  });

  test('have the interval and the smallest difference that could be shown beside every verdict', async () => {
    const file = await sampleFile(['json', 'msgpack', 'anp']);
    expect(comparisonText(file)).toMatch(/1\.40 +1\.30–1\.50 +1\.15 +slower/);
    expect(comparisonMarkdown(file)).toContain('| 1.40 | 1.30–1.50 | 1.15 | slower |');
    const [head = '', , msgpack = ''] = adaptersCsv(file).split('\n');
    expect(msgpack.split(',')[head.split(',').indexOf('time_detectable')]).toBe('1.15');
  });
});

describe('the sentence', () => {
  const judged = (adapter: string, verdict: string, ratio = 1.12, high: number | null = 1.19) => ({
    adapter,
    vs_baseline: { time: { ratio, low: 1.02, high, detectable: high === null ? null : 1.13, verdict } },
  });
  const baseline = { adapter: 'json', vs_baseline: null };

  test.each([
    [
      'slower',
      1.19,
      'cbor is slower than json: 1.12 times its time (95 % interval 1.02–1.19); such rounds could show a factor of 1.13.',
    ],
    [
      'no detectable difference',
      1.19,
      'No difference in time was detected between cbor and json: 1.12 times its time (95 % interval 1.02–1.19); such rounds could show a factor of 1.13.',
    ],
    [
      'no detectable difference',
      null,
      'No difference in time was detected between cbor and json: 1.12 times its time, of too few rounds for an interval.',
    ],
  ])('about a pair has all its numbers: %s', (verdict, high, sentence) => {
    expect(sentenceOf('json', [baseline, judged('cbor', verdict, 1.12, high)])).toBe(sentence);
  });

  test('about several names each by its verdict, and makes nothing of the slowest and the fastest', () => {
    const none = 'no detectable difference';
    const all = [baseline, judged('toon', 'slower', 3), judged('anp', 'slower', 4), judged('msgpack', none)];
    expect(sentenceOf('json', all)).toBe(
      'toon and anp are slower than json; no difference was detected for msgpack.',
    );
    expect(sentenceOf('json', [...all, judged('cbor', 'faster'), judged('mcp', none)])).toBe(
      'toon and anp are slower than json; cbor is faster than json; no difference was detected for msgpack and mcp.',
    );
    expect(sentenceOf('json', [baseline, judged('cbor', none), judged('mcp', none)])).toBe(
      'No adapter differs detectably from json in time.',
    );
  });
});
