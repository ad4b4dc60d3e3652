import type { Question } from '../questions/question.ts';
import { type CycleSummary, cycleSummary, type Rights } from './cycles.ts';
import { type Figures, FiguresSum } from './figures.ts';
import type { GaiaResult } from './gaia-result.ts';
import { passAtK } from './pass-at-k.ts';
import { type RunMetricsOfTeam, TeamTally } from './team-tally.ts';

/**
 * What one team's batch came to. The figures are those of first attempts; with `--repeat` the later ones stand apart, since a team
 * that learns from a question has seen it (C-12).
 */
export interface TeamSummary extends Figures, RunMetricsOfTeam {
  /** By the questions' levels (C-29). */
  readonly levels: Readonly<Record<string, Figures>>;
  readonly categories: Readonly<Record<string, Figures>>;
  /** With `--repeat`: all attempts after the first. */
  readonly repeats?: Figures;
  readonly cycles?: readonly CycleSummary[];
  /** By k, the mean over the scored questions: at least one of k attempts right, and all of them. */
  readonly pass_at?: Readonly<Record<string, number>>;
  readonly pass_hat?: Readonly<Record<string, number>>;
}

/** Reads each result once, and keeps none: `read` gives that of a question and cycle, if it is finished. */
export function teamSummary(
  questions: readonly Question[],
  repeat: number,
  read: (question: Question, cycle: number) => GaiaResult | undefined,
): TeamSummary {
  const levels = new Groups();
  const categories = new Groups();
  const first = new FiguresSum();
  const repeats = new FiguresSum();
  const tally = new TeamTally();
  const cycles: CycleSummary[] = [];
  const rightTimes = new Map<string, number>();
  let before: { figures: Figures; rights: Rights } | undefined;
  for (let cycle = 1; cycle <= repeat; cycle++) {
    const sum = cycle === 1 ? first : new FiguresSum();
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
      if (result !== undefined) tally.add(result);
      if (!isScored) continue;
      const correct = result?.correct === true;
      rights.set(taskId, { category, correct });
      rightTimes.set(taskId, (rightTimes.get(taskId) ?? 0) + (correct ? 1 : 0));
    }
    const figures = sum.figures();
    cycles.push(cycleSummary(cycle, figures, rights, before));
    before = { figures, rights };
  }
  return {
    ...first.figures(),
    levels: levels.figures(),
    categories: categories.figures(),
    ...tally.metrics(),
    ...(repeat > 1
      ? { repeats: repeats.figures(), cycles, ...passes([...rightTimes.values()], repeat) }
      : {}),
  };
}

function passes(
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

class Groups {
  readonly #sums = new Map<string, FiguresSum>();

  add(name: string, result: GaiaResult | undefined, isScored: boolean): void {
    let sum = this.#sums.get(name);
    if (sum === undefined) {
      sum = new FiguresSum();
      this.#sums.set(name, sum);
    }
    sum.add(result, isScored);
  }

  figures(): Record<string, Figures> {
    const names = [...this.#sums.keys()].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    return Object.fromEntries(
      names.map((name) => [name, (this.#sums.get(name) ?? new FiguresSum()).figures()]),
    );
  }
}
