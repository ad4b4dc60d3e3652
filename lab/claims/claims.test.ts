import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readRecording } from '../../core/recording/read-archive.ts';
import { codeFolder } from '../../core/system/package-root.ts';
import { defaultRecording } from '../../evaluation/compare/scenario.ts';
import type { StacksFile } from '../../evaluation/compare/stacks/figures/stacks-file.ts';
import { makeStacksFile } from '../../evaluation/compare/stacks/testing/sample-stacks.ts';
import { type Claim, readClaims } from './claim.ts';
import { claimText } from './claims-command.ts';
import { decide } from './decide.ts';

const recording = await readRecording(defaultRecording);
const claims = readClaims();

describe('docs/claims.md', () => {
  test('has each claim that bytes and tokens decide, as they decide it now', async () => {
    const page = readFileSync(path.join(codeFolder, 'docs', 'claims.md'), 'utf8');
    const decided = await Promise.all(claims.map((claim) => decide(claim, { recording, stacks: [] })));
    const exact = decided.filter(({ isExact, claim }) => isExact && claim.experiment.kind !== 'stack');

    expect(exact.length).toBeGreaterThan(6);
    // `npm run lab:claims -- --write` brings it up to date.
    for (const one of exact) expect(page).toContain(claimText(one));
    for (const { claim } of decided) expect(page).toContain(`### ${claim.id}`);
  });

  test('has no claim twice', () => {
    expect(new Set(claims.map(({ id }) => id)).size).toBe(claims.length);
  });
});

describe('a claim about time', () => {
  const sample = makeStacksFile([
    { name: 'x/tcp', factor: 1 },
    { name: 'y/tcp', factor: 0.5 },
  ]);
  const [baseline, arm] = sample.arms;
  const claim: Claim = {
    ...{ id: 'x', source: { title: 't', url: 'https://example.org' }, says: 's', condition: 'c' },
    experiment: {
      ...{ kind: 'stack', of: arm?.name ?? '', against: baseline?.name ?? '', figure: 'latency' },
      expect: { at_most: 0.8 },
    },
  };

  /** The sample with this verdict about the pair. */
  function judged(verdict: 'different' | 'equivalent' | 'cannot tell', ratio: number): StacksFile {
    const arms = sample.arms.map((one) => {
      const latency = one.vs_baseline?.latency;
      if (one.vs_baseline === null || latency === null || latency === undefined) return one;
      return { ...one, vs_baseline: { ...one.vs_baseline, latency: { ...latency, verdict, ratio } } };
    });
    return { ...sample, arms };
  }

  test.each([
    ['different', 0.5, 'reproduced'],
    ['different', 0.9, 'not reproduced'],
    ['different', 2, 'not reproduced'],
    ['equivalent', 1.01, 'not reproduced'],
    ['cannot tell', 0.5, 'cannot tell'],
  ] as const)('is decided by the verdict about its pair: %s, ×%s: %s', async (verdict, ratio, expected) => {
    expect(await decide(claim, { recording, stacks: [judged(verdict, ratio)] })).toMatchObject({
      verdict: expected,
    });
  });

  test('is not decided by another pair, or by none: the figure is the command to type', async () => {
    const other = { ...judged('different', 0.5), baseline: 'something else' };
    for (const stacks of [[], [other]]) {
      const decided = await decide(claim, { recording, stacks });
      expect(decided).toMatchObject({
        verdict: 'cannot tell',
        figures: [expect.stringContaining('npm run compare -- --stacks')],
      });
    }
  });

  test('that its own comparison confounds stays confounded, with our figure beside it', async () => {
    const confounded = { ...claim, confounded: ['another thing'] };
    const decided = await decide(confounded, { recording, stacks: [judged('different', 0.5)] });
    expect(decided).toMatchObject({ verdict: 'confounded', figures: [expect.stringContaining('×0.50')] });
  });
});
