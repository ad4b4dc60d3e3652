import { judgeAnswers } from '../statistics/answers/paired-answers.ts';
import type { Figures } from './figures.ts';

/** One pass over all questions, compared with the one before it (OV-45). */
export interface CycleSummary extends Figures {
  readonly cycle: number;
  /** Change of accuracy since the cycle before; null for the first cycle, and if nothing is scored. */
  readonly delta: number | null;
  /** Questions that were wrong in the cycle before and are right now, and vice versa. */
  readonly newly_right: number;
  readonly newly_wrong: number;
  /** Categories that changed; a gain in one does not hide a loss in another (OV-44). */
  readonly categories: readonly CategoryChange[];
}

interface CategoryChange {
  readonly category: string;
  readonly questions: number;
  readonly correct_before: number;
  readonly correct: number;
  readonly delta: number;
  /** Interval of the change, corrected for the number of categories. */
  readonly low: number;
  readonly high: number;
  /** True if fewer questions are right than before. That may be chance, see {@link nameChange}. */
  readonly regressed: boolean;
}

/** Names a change as better or worse only if its interval excludes 0. */
export function nameChange({ low, high }: Pick<CategoryChange, 'low' | 'high'>): string {
  return high < 0 ? 'got worse' : low > 0 ? 'got better' : 'cannot tell';
}

/** Correctness in a cycle of the questions with a known answer, by question id. */
export type Rights = ReadonlyMap<string, { readonly category: string; readonly correct: boolean }>;

/** Compares a cycle with the one before it. */
export function summarizeCycle(
  cycle: number,
  figures: Figures,
  now: Rights,
  before?: CycleBefore,
): CycleSummary {
  const pairs = [...now].map(([taskId, { category, correct }]) => ({
    category,
    was: before?.rights.get(taskId)?.correct === true,
    is: correct,
  }));
  const { accuracy } = figures;
  const earlier = before?.figures.accuracy ?? null;
  return {
    cycle,
    ...figures,
    delta: accuracy === null || earlier === null ? null : accuracy - earlier,
    newly_right: before === undefined ? 0 : pairs.filter(({ was, is }) => is && !was).length,
    newly_wrong: before === undefined ? 0 : pairs.filter(({ was, is }) => was && !is).length,
    categories: before === undefined ? [] : countCategoryChanges(pairs),
  };
}

interface CycleBefore {
  readonly figures: Figures;
  readonly rights: Rights;
}

function countCategoryChanges(
  pairs: readonly { category: string; was: boolean; is: boolean }[],
): CategoryChange[] {
  const groups = [...Map.groupBy(pairs, ({ category }) => category)];
  const judged = judgeAnswers(
    groups.map(([, group]) => ({
      attempts: 1,
      questions: group.map(({ was, is }) => ({ baseline: Number(was), other: Number(is) })),
    })),
  );
  return groups
    .map(([category, group], index) => {
      const { low = -1, high = 1 } = judged[index] ?? {};
      const before = group.filter(({ was }) => was).length;
      const correct = group.filter(({ is }) => is).length;
      const delta = (correct - before) / group.length;
      return {
        category,
        questions: group.length,
        correct_before: before,
        correct,
        delta,
        low,
        high,
        regressed: correct < before,
      };
    })
    .filter(({ delta }) => delta !== 0)
    .sort((a, b) => a.delta - b.delta);
}
