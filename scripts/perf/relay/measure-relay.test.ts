import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { measure } from './measure-relay.ts';
import { installedTargets, type Target } from './targets.ts';

const hasCompiler = ['cc', 'gcc', 'clang'].some((name) => spawnSync(name, ['--version']).status === 0);
if (!hasCompiler) console.warn('skipped: no C compiler for the load generator of perf --relay');

describe.runIf(hasCompiler || process.env.CI === 'true')('the load of perf --relay', () => {
  const load = { agents: 3, bytes: 300, seconds: 0.2 };

  async function target(name: string): Promise<Target> {
    const found = (await installedTargets()).find((each) => each.name === name);
    if (found === undefined) throw new Error(`no ${name}`);
    return found;
  }

  test.each(['hub', 'C relay', 'naive', 'no peek', 'raw Node'])(
    'is carried by the %s, and counted',
    async (name) => {
      const sample = await measure(await target(name), load);
      expect(sample).toMatchObject({ bad: 0, came: sample.wanted });
      expect(sample.delivered).toBeGreaterThan(100);
      expect(sample.hub_peak_mb).toBeGreaterThan(1);
    },
  );

  test('at a fixed rate has a latency for each delivery of its time', async () => {
    const { latency_us, delivered } = await measure(await target('hub'), {
      ...load,
      rate: 1000,
      seconds: 0.5,
    });
    expect(latency_us?.samples).toBe(delivered);
    expect(latency_us?.p50).toBeGreaterThan(1);
    expect(latency_us?.p50).toBeLessThanOrEqual(latency_us?.p99 ?? 0);
  });

  test('sees a stuck agent cut off, and the others go on', async () => {
    const sample = await measure(await target('hub'), {
      agents: 3,
      bytes: 4096,
      isOneStuck: true,
      seconds: 1.5,
    });
    expect(sample.cut_s).toBeGreaterThan(0.2);
    expect(sample.tenths.slice(-4).every((each) => each > 0)).toBe(true);
  });

  test('fails when frames are damaged', async () => {
    // Chunks of several senders one behind the other are no frames any more.
    const tearing: Target = { ...(await target('raw Node')), wire: 'frames' };
    await expect(measure(tearing, load)).rejects.toMatchObject({ code: 'io' });
  });
});
