import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { describe, expect, test } from 'vitest';
import { parseComparison, readComparison } from './comparison-file.ts';
import { sampleComparison } from './testing/sample-comparison.ts';

const sample = JSON.stringify(await sampleComparison(['json', 'msgpack', 'anp']));

/** The sample with one part of its text replaced. */
function changed(what: string | RegExp, by: string): string {
  const text = sample.replace(what, by);
  expect(text).not.toBe(sample);
  return text;
}

describe('a comparison', () => {
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
    expect(() => parseComparison(text, 'here', 'adapters')).toThrow(
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
