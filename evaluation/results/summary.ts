import { Samples } from '@gaia-mesh/core/run/metrics/samples.ts';
import type { Attempt } from '../attempts/attempt.ts';
import type { Question } from '../questions/question.ts';
import { Calibration, type CalibrationFigures } from '../statistics/answers/calibration.ts';
import { computeClusteredInterval } from '../statistics/answers/clustered.ts';
import { type CycleSummary, type Rights, summarizeCycle } from './cycles.ts';
import { AttemptSum, type Figures, type WorkFigures } from './figures.ts';

/** Attempts in groups, such as the levels of their questions. */
class AttemptGroups {
  readonly #sums = new Map<string, AttemptSum>();

  add(name: string, attempt: Attempt | undefined, isScored: boolean): void {
    let sum = this.#sums.get(name);
    if (sum === undefined) {
      sum = new AttemptSum();
      this.#sums.set(name, sum);
    }
    sum.add(attempt, isScored);
  }

  get(name: string): AttemptSum | undefined {
    return this.#sums.get(name);
  }

  /** Groups in the order in which they came. */
  map<Value>(toValue: (sum: AttemptSum) => Value): Record<string, Value> {
    return Object.fromEntries([...this.#sums].map(([name, sum]) => [name, toValue(sum)]));
  }

  /** Figures of the groups, in the order of their names. */
  figures(): Record<string, Figures> {
    const entries = Object.entries(this.map((sum) => sum.figures()));
    return Object.fromEntries(entries.sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true })));
  }
}

/**
 * Summary of one team's batch. The figures are those of first attempts; with `--repeat` later attempts are kept apart, since a
 * team that learns from a question has seen it (C-12).
 */
export interface TeamSummary extends Figures, WorkFigures {
  /** Figures by level of the questions (C-29). */
  readonly levels: Readonly<Record<string, Figures>>;
  readonly categories: Readonly<Record<string, Figures>>;
  /** Coverage, risk and calibration of first attempts; only if the engine reports confidences. */
  readonly calibration?: CalibrationFigures | undefined;
  /**
   * All attempts after the first, with `--repeat`; the interval is by question, since attempts at one question resemble each
   * other.
   */
  readonly repeats?: Figures | undefined;
  readonly cycles?: readonly CycleSummary[] | undefined;
  /** Means over the scored questions by k: at least one of k attempts right, and all of them right. */
  readonly pass_at?: Readonly<Record<string, number>> | undefined;
  readonly pass_hat?: Readonly<Record<string, number>> | undefined;
}

/** Figures of a team's attempts; the summaries of `gaia` and `bench` are written from it. */
export interface Summary {
  readonly team: TeamSummary;
  /** All attempts. */
  readonly all: AttemptSum;
  /** All attempts by {@link listTaskParts}. */
  readonly parts: AttemptGroups;
  readonly elapsedMs: Samples;
}

/**
 * Adds up a team's attempts. Each is read once and not kept.
 *
 * @param read returns the attempt at a question in a cycle, if it is finished
 */
export function summarize(
  questions: readonly Question[],
  repeat: number,
  read: (question: Question, cycle: number) => Attempt | undefined,
): Summary {
  const levels = new AttemptGroups();
  const categories = new AttemptGroups();
  const parts = new AttemptGroups();
  const all = new AttemptSum();
  const first = new AttemptSum();
  const repeats = new AttemptSum();
  const elapsedMs = new Samples();
  const calibration = new Calibration();
  let isConfident = false;
  const cycles: CycleSummary[] = [];
  const rightTimes = new Map<string, number>();
  const rightFirst = new Set<string>();
  let before: { figures: Figures; rights: Rights } | undefined;
  for (let cycle = 1; cycle <= repeat; cycle++) {
    const sum = cycle === 1 ? first : new AttemptSum();
    const rights = new Map<string, { category: string; correct: boolean }>();
    for (const question of questions) {
      const result = read(question, cycle);
      const { taskId, category, level } = question;
      const isScored = question.truths.length > 0;
      sum.add(result, isScored);
      if (cycle > 1) repeats.add(result, isScored);
      else {
        categories.add(category, result, isScored);
        if (level !== undefined) levels.add(level, result, isScored);
      }
      if (result !== undefined) {
        all.add(result, isScored);
        elapsedMs.add(result.elapsed_ms);
        for (const part of listTaskParts(question)) parts.add(part, result, isScored);
      }
      if (!isScored) continue;
      const correct = result?.correct === true;
      if (cycle === 1) {
        // An answer without a confidence counts as fully confident.
        calibration.add(result?.status === 'answered' ? (result.confidence ?? 1) : undefined, correct);
        isConfident ||= result?.confidence !== undefined;
      }
      if (cycle === 1 && correct) rightFirst.add(taskId);
      rights.set(taskId, { category, correct });
      rightTimes.set(taskId, (rightTimes.get(taskId) ?? 0) + (correct ? 1 : 0));
    }
    const figures = sum.figures();
    cycles.push(summarizeCycle(cycle, figures, rights, before));
    before = { figures, rights };
  }
  const team: TeamSummary = {
    ...first.figures(),
    levels: levels.figures(),
    categories: categories.figures(),
    calibration: isConfident ? calibration.figures() : undefined,
    ...all.work(),
    ...(repeat > 1
      ? {
          repeats: clusterFigures(repeats.figures(), rightTimes, rightFirst, repeat - 1),
          cycles,
          ...computePasses([...rightTimes.values()], repeat),
        }
      : {}),
  };
  return { team, all, parts, elapsedMs };
}

/**
 * Returns the parts that a task counts in: its id up to `-<last part>`, its source up to ` / `, and its level, if it has them.
 */
function listTaskParts({ taskId, source, level }: Question): string[] {
  const dash = taskId.lastIndexOf('-');
  const parts = [dash > 0 ? taskId.slice(0, dash) : taskId];
  if (source !== undefined) parts.push(source.split(' / ')[0] ?? source);
  if (level !== undefined) parts.push(level);
  return [...new Set(parts)];
}

function clusterFigures(
  figures: Figures,
  rightTimes: ReadonlyMap<string, number>,
  rightFirst: ReadonlySet<string>,
  attempts: number,
): Figures {
  if (figures.accuracy === null) return figures;
  const right = [...rightTimes].map(([taskId, times]) => times - (rightFirst.has(taskId) ? 1 : 0));
  return { ...figures, ...computeClusteredInterval(right, attempts) };
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
export function passAtK(n: number, correct: number, k: number): { any: number; all: number } {
  if (!(k >= 1 && k <= n && correct >= 0 && correct <= n))
    throw new RangeError(
      `expected 1 <= k <= n and 0 <= correct <= n, got n ${n}, correct ${correct}, k ${k}`,
    );
  return { any: 1 - drawn(n - correct, n, k), all: drawn(correct, n, k) };
}

/** Computes C(m, k) / C(n, k) as a product whose factors stay within 0..1, where the binomials would overflow. */
function drawn(m: number, n: number, k: number): number {
  let share = 1;
  for (let i = 0; i < k; i++) share *= Math.max(0, m - i) / (n - i);
  return share;
}
