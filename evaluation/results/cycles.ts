import { computeClusteredInterval } from '../statistics/answers/clustered.ts';
import { judgeAnswers } from '../statistics/answers/paired-answers.ts';
import type { Figures } from './figures.ts';

/** One pass over all questions, compared with the one before it (OV-45). */
interface CycleSummary extends Figures {
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

/** Figures of a batch whose questions were asked several times. */
export interface RepeatFigures {
  /**
   * All attempts after the first; the interval is by question, since attempts at one question resemble each other.
   */
  readonly repeats?: Figures | undefined;
  readonly cycles?: readonly CycleSummary[] | undefined;
  /** Means over the scored questions by k: at least one of k attempts right, and all of them right. */
  readonly pass_at?: Readonly<Record<string, number>> | undefined;
  readonly pass_hat?: Readonly<Record<string, number>> | undefined;
}

/** A pass over all questions, with the correctness of the answers to those with a known one, by question id. */
interface Round {
  readonly figures: Figures;
  readonly rights: ReadonlyMap<string, { readonly category: string; readonly correct: boolean }>;
}

/**
 * Compares each round with the one before it, and all of them with each other.
 *
 * @param repeats figures of all rounds after the first
 */
export function summarizeRounds(rounds: readonly Round[], repeats: Figures): RepeatFigures {
  const [first] = rounds;
  if (first === undefined || rounds.length < 2) return {};
  const countRight = (taskId: string, all: readonly Round[]) =>
    all.filter(({ rights }) => rights.get(taskId)?.correct === true).length;
  const ids = [...first.rights.keys()];
  const rightLater = ids.map((id) => countRight(id, rounds.slice(1)));
  const interval = repeats.accuracy === null ? {} : computeClusteredInterval(rightLater, rounds.length - 1);
  return {
    repeats: { ...repeats, ...interval },
    cycles: rounds.map((round, index) => summarizeCycle(index + 1, round, rounds[index - 1])),
    ...computePasses(
      ids.map((id) => countRight(id, rounds)),
      rounds.length,
    ),
  };
}

function summarizeCycle(cycle: number, { figures, rights }: Round, before: Round | undefined): CycleSummary {
  const pairs = [...rights].map(([taskId, { category, correct }]) => ({
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

function computePasses(
  rightTimes: readonly number[],
  repeat: number,
): { pass_at: Record<string, number>; pass_hat: Record<string, number> } {
  const pass_at: Record<string, number> = {};
  const pass_hat: Record<string, number> = {};
  if (rightTimes.length === 0) return { pass_at, pass_hat };
  for (let k = 1; k <= repeat; k++) {
    const each = rightTimes.map((correct) => passAtK(repeat, correct, k));
    pass_at[k] = each.reduce((sum, { any }) => sum + any, 0) / each.length;
    pass_hat[k] = each.reduce((sum, { all }) => sum + all, 0) / each.length;
  }
  return { pass_at, pass_hat };
}

/**
 * Returns the probability that at least one of `k` attempts is right, and that all of them are, estimated from `n` attempts of
 * which `correct` were right. Both estimates are unbiased: they count the ways to draw k of the n attempts. pass@k = 1 − C(n−c,
 * k) / C(n, k) (Chen et al. 2021, "Evaluating Large Language Models Trained on Code"); pass^k = C(c, k) / C(n, k) (Yao et al.
 * 2024, "τ-bench").
 *
 * Both suppose that attempts do not learn from each other; for a team that does, read the score by cycle instead.
 */
function passAtK(n: number, correct: number, k: number): { any: number; all: number } {
  return { any: 1 - drawn(n - correct, n, k), all: drawn(correct, n, k) };
}

/** Computes C(m, k) / C(n, k) as a product whose factors stay within 0..1, where the binomials would overflow. */
function drawn(m: number, n: number, k: number): number {
  let share = 1;
  for (let i = 0; i < k; i++) share *= Math.max(0, m - i) / (n - i);
  return share;
}
