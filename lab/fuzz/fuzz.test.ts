import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { runLab } from '../testing/run-lab.ts';
import { findTargets, fuzzTargets, replayCase, runCampaign, SEEDS } from './fuzz.ts';
import { Defect, fuzzTarget } from './target.ts';

/** Another one every time: what one run misses the next may find. A failure prints it. */
const clockSeed = Date.now() % SEEDS;

test.each(fuzzTargets.filter(({ name }) => name !== 'volume'))(
  '$name stands hostile cases',
  async (target) => {
    // A damaged document mostly ends the thread that reads it.
    const runs = target.name.startsWith('document:') ? 2 : 5;
    const { failure } = await target.fuzz({ seed: clockSeed, runs });

    expect(failure, `npm run fuzz -- --target ${target.name} --seed ${clockSeed}`).toBeNull();
  },
);

describe('a campaign', () => {
  const { signal } = new AbortController();
  const sound = fuzzTarget('sound', fc.nat(), async () => () => undefined);
  /** Cannot bear a byte above 99. */
  const broken = fuzzTarget('broken', fc.uint8Array(), async () => (bytes) => {
    if (bytes.some((byte) => byte > 99)) throw new Defect('above 99', bytes);
  });

  test('names seed, path and the smallest case with its bytes; the path leads there again', async () => {
    const [good, bad] = await runCampaign([sound, broken], { seed: 7, minutes: 0.001, signal });

    expect(good).toMatchObject({ name: 'sound', failure: null });
    expect(bad?.failure).toMatchObject({
      counterexample: 'Uint8Array.from([100])',
      reason: 'above 99\nbytes: 64',
    });
    const { seed = 0, path = '' } = bad?.failure ?? {};
    expect(await replayCase(broken, seed, path)).toMatchObject({
      failure: { reason: 'above 99\nbytes: 64' },
    });
  });

  test('takes the same cases with the same seed, whichever targets run beside it', async () => {
    const cases = async (seed: number, beside: readonly (typeof sound)[]) => {
      const seen: number[] = [];
      const noting = fuzzTarget('noting', fc.nat(), async () => (value) => void seen.push(value));
      await runCampaign([...beside, noting], { seed, minutes: 0, signal });
      return seen;
    };

    const first = await cases(7, []);
    expect(first.length).toBeGreaterThan(0);
    expect(await cases(7, [sound])).toEqual(first);
    expect(await cases(8, [])).not.toEqual(first);
  });

  test('gives every target its share of the time', async () => {
    const slow = fuzzTarget(
      'slow',
      fc.nat(),
      async () => () => new Promise((resolve) => setTimeout(resolve, 1)),
    );

    const [quick, late] = await runCampaign([sound, slow], { seed: 7, minutes: 0.01, signal });

    expect(quick?.runs).toBeGreaterThan(0);
    expect(late?.runs).toBeGreaterThan(0);
    expect(quick?.runs).toBeGreaterThan(late?.runs ?? 0);
  });
});

test('a case that fails after minutes is a failure, and ends the shrinking', async () => {
  vi.useFakeTimers();
  let tried = 0;
  const slow = fuzzTarget('slow', fc.array(fc.nat(), { minLength: 5 }), async () => async () => {
    tried += 1;
    await vi.advanceTimersByTimeAsync(70_000);
    throw new Defect('late');
  });
  const { failure } = await slow.fuzz({ seed: 7, runs: 3 });
  vi.useRealTimers();

  expect(failure?.reason).toBe('late');
  expect(tried).toBeLessThanOrEqual(3);
});

describe('the command', () => {
  test('says what it ran, with its seed', async () => {
    const options = ['--target', 'framing', 'layer:crc32c', '--minutes', '0.001', '--seed', '3', '--json'];
    const { code, stdout, stderr } = await runLab(['fuzz', ...options]);

    expect([code, stderr]).toEqual([0, expect.stringContaining('seed 3')]);
    expect(JSON.parse(stdout)).toMatchObject({
      seed: 3,
      targets: [
        { name: 'framing', failure: null },
        { name: 'layer:crc32c', failure: null },
      ],
    });
  });

  test('takes a path with the target and the seed that it belongs to alone', async () => {
    const { code, stderr } = await runLab(['fuzz', '--target', 'layer', '--seed', '3', '--path', '0:1']);

    expect([code, stderr]).toEqual([2, expect.stringContaining('--path')]);
  });
});

test('targets are chosen by name or by kind; a name that nothing has is refused with those that are known', () => {
  expect(findTargets(['adapter:json', 'layer']).map(({ name }) => name)).toEqual(
    expect.arrayContaining(['adapter:json', 'layer:zstd']),
  );
  expect(findTargets([])).toBe(fuzzTargets);
  expect(() => findTargets(['yaml'])).toThrow(
    expect.objectContaining({ code: 'usage', message: expect.stringContaining('framing, adapter:json') }),
  );
});
