import { Samples } from '@gaia-mesh/core/run/metrics/samples.ts';
import type { Attempt } from '../attempts/attempt.ts';
import type { Question } from '../questions/question.ts';
import { Calibration, type CalibrationFigures } from '../statistics/answers/calibration.ts';
import { type RepeatFigures, summarizeRounds } from './cycles.ts';
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
export interface TeamSummary extends Figures, WorkFigures, RepeatFigures {
  /** Figures by level of the questions (C-29). */
  readonly levels: Readonly<Record<string, Figures>>;
  readonly categories: Readonly<Record<string, Figures>>;
  /** Coverage, risk and calibration of first attempts; only if the engine reports confidences. */
  readonly calibration?: CalibrationFigures | undefined;
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
  const rounds: Parameters<typeof summarizeRounds>[0][number][] = [];
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
      rights.set(taskId, { category, correct });
    }
    rounds.push({ figures: sum.figures(), rights });
  }
  const team: TeamSummary = {
    ...first.figures(),
    levels: levels.figures(),
    categories: categories.figures(),
    calibration: isConfident ? calibration.figures() : undefined,
    ...all.work(),
    ...summarizeRounds(rounds, repeats.figures()),
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
