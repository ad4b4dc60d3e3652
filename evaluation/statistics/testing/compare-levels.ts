import { compareNestedSamples, type JudgedComparison, judgeComparisons } from '../nested-samples.ts';

/** Returns the verdict on one pair: `baseline[i][j]` and `other[i][j]` are the j-th round of the i-th invocation of each. */
export function compareLevels(
  baseline: readonly (readonly number[])[],
  other: readonly (readonly number[])[],
  { margin = 0.05, nullArm }: Partial<Parameters<typeof judgeComparisons>[1]> = {},
): JudgedComparison {
  const [judged] = judgeComparisons([compareNestedSamples(baseline, other)], { margin, nullArm });
  if (judged === undefined) throw new Error('one pair has one verdict');
  return judged;
}
