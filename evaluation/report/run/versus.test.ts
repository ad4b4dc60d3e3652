import { beforeAll, describe, expect, test } from 'vitest';
import { describeBytes, describeTimes } from '../../viewer/run/versus.ts';
import { sampleRun } from '../testing/sample-archive.ts';
import type { ArchivedRun } from './archived-run.ts';

let run: ArchivedRun;
beforeAll(async () => {
  run = await sampleRun();
});

/** The sample's run, as if it had taken so long with that adapter. */
const took = (elapsed_ms: number, adapter = run.metrics.adapter) => ({ ...run.metrics, elapsed_ms, adapter });
const plain = (text: string | undefined) => text?.replaceAll('\u00a0', ' ');

describe('run against run', () => {
  test('of one run is none', () => {
    expect(describeBytes([run.metrics])).toBeNull();
  });

  test('of two identical runs says that they sent the same, and nothing of which is faster', () => {
    const runs = [took(100), took(224)];
    expect(describeBytes(runs)).toBe('Run 2 sent as many bytes as run 1');
    expect(describeTimes(runs)).not.toContain('2.24');
    expect(plain(describeTimes(runs))).toMatch(
      /^The 2 runs have the same setting .* that is how much one run differs/,
    );
  });

  test('of one run of each setting says how many it takes', () => {
    const said = plain(describeTimes([took(100), took(224, 'cbor')]));
    expect(said).not.toContain('2.24');
    expect(said).toContain('of 1 run of a setting nothing can be told');
    expect(said).toContain('at least 5 runs of each');
  });

  test('of five runs of each setting has a verdict with its interval', () => {
    const own = [98, 100, 102, 101, 99].map((ms) => took(ms));
    const other = [148, 150, 152, 151, 149].map((ms) => took(ms, 'cbor'));
    expect(plain(describeTimes([...own, ...other]))).toMatch(
      /cbor: slower \(1\.50 times, 95 % interval 1\.4\d–1\.5\d, 5 runs\)\.$/,
    );
  });
});
