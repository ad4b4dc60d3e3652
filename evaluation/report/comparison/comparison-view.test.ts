import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { describe, expect, test } from 'vitest';
import { parseAdapters, readComparison } from '../../compare/comparison-file.ts';
import { sampleComparison } from '../../compare/testing/sample-comparison.ts';
import { buildComparisonView } from './comparison-view.ts';

const sample = JSON.stringify(await sampleComparison(['json', 'msgpack', 'anp']));

/** The sample with one part of its text replaced. */
function changed(what: string | RegExp, by: string): string {
  const text = sample.replace(what, by);
  expect(text).not.toBe(sample);
  return text;
}

describe('a comparison', () => {
  test('is shown by its bytes, and by its times', () => {
    const view = buildComparisonView(parseAdapters(sample, 'here'));

    expect(view.bytes.waterfalls.map(({ label }) => label)).toEqual(['msgpack', 'json', 'anp']);
    expect(view.bytes.finding).toMatch(/^anp needs \d+\.\d+× the bytes of json, msgpack 0\.\d+×$/);
    expect(view.time.finding.replaceAll('\u00a0', ' ')).toBe(
      'Task time against json. cannot tell: msgpack; slower: anp',
    );
    expect(view.time.equal).toEqual({ low: 1 / 1.05, high: 1.05, text: '±5 %' });
    expect(view.time.ratios.map(({ label }) => label)).toEqual(['json again', 'msgpack', 'anp']);
    expect(view.latency?.distributions.map(({ samplesMs }) => samplesMs.length)).toEqual([30, 30, 30]);
    expect(view.table.rows.map((row) => [row[0], row.at(-2), row.at(-1)])).toEqual([
      ['msgpack', '1.15', 'cannot tell'],
      ['json', '–', 'baseline'],
      ['anp', '1.15', 'slower'],
    ]);
  });

  test('without a verdict says what it would take, and of what the machine did', () => {
    const open = changed(/"different"/g, '"cannot tell"').replace(/"sentence":"[^"]*"/, '"sentence":null');
    const busy = open.replace('"warnings":[]', '"warnings":["the machine was busy"]');
    const view = buildComparisonView(parseAdapters(busy, 'here'));

    expect(view.sentence.replaceAll('\u00a0', ' ')).toMatch(
      /^Cannot tell yet \(anp, the soonest of 2\): About 10 inv/,
    );
    expect(view.warnings).toEqual(['the machine was busy']);
  });

  test('of too few invocations has no ends of intervals, and does not invent them', () => {
    const text = changed(/"high":1\.04/, '"high":null').replaceAll(/"time":\[\[.*?\]\]/g, '"time":[[1]]');
    const view = buildComparisonView(parseAdapters(text, 'here'));

    expect(view.time.table.rows[0]?.[2]).toBe('too few invocations');
    expect(view.latency).toBeNull();
  });

  test.each([
    ['no JSON', sample.slice(1), 'here: not JSON'],
    [
      'another version',
      changed('"schema_version":3', '"schema_version":2'),
      'expected schema version 3, got 2, which another version of Gaia Mesh wrote; create it again',
    ],
    [
      'the metrics of a run',
      '{"schema_version":1,"run_id":"x","pkt_cnt":4}',
      'here is the metrics of a run: expected the comparison.json of a comparison',
    ],
    ['no adapter', changed(/"arms":\[.*\],"invocations"/, '"arms":[],"invocations"'), 'arms'],
    ['a ratio that is none', changed(/"ratio":1\.2/, '"ratio":-1'), 'arms.1.vs_baseline.time.ratio'],
    ['an unknown verdict', changed('"different"', '"<b>"'), 'verdict'],
    ['a time that is a text', changed(/"time":\[\[5000/, '"time":[["5000"'), 'samples_us.time.0'],
  ])('with %s is refused with the reason', (_what, text, reason) => {
    expect(() => parseAdapters(text, 'here')).toThrow(
      expect.objectContaining({ code: 'config', message: expect.stringContaining(reason) }),
    );
  });

  test('is read from a file of at most 16 MiB', () => {
    const file = path.join(temporaryFolder(), 'comparison.json');
    writeFileSync(file, sample.padEnd(16 * 1024 * 1024));
    expect(readComparison(file).baseline).toBe('json');

    writeFileSync(file, sample.padEnd(16 * 1024 * 1024 + 1));
    expect(() => readComparison(file)).toThrow('larger than 16777216');
    expect(() => readComparison(`${file}.missing`)).toThrow('there is no such file');
  });
});
