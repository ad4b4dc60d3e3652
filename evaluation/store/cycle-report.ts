import type { AttemptOutcome } from '../../tools/roles/memory/attempt.ts';
import { wilson } from '../statistics/inference/confidence.ts';

/** What the report needs of an attempt. */
export type CycleOutcome = Pick<
  AttemptOutcome,
  'cycle' | 'attempt_number' | 'task_id' | 'question_type' | 'correct'
>;

/** How many of the attempts were right. The denominator is everything that was tried and has a true answer (OV-44). */
interface Tally {
  readonly attempted: number;
  /** Attempts without a known true answer: they are in no score. */
  readonly unscored: number;
  readonly correct: number;
  /** `correct` by attempts with a true answer; null where there are none. */
  readonly score: number | null;
  /** 95 % interval of the score (Wilson). */
  readonly low: number;
  readonly high: number;
}

interface CycleReport extends Tally {
  readonly cycle: number;
  /** First attempts of the team at a question, ever: only they say how well it does on questions it has not met (C-12). */
  readonly first: Tally;
  /** All others: gap records of the same question may have fed them. */
  readonly repeats: Tally;
  readonly by_type: Readonly<Record<string, Tally>>;
  /** Against the cycle before; null for the first. */
  readonly change: CycleChange | null;
}

interface CycleChange {
  /** Difference of the scores; null where the two cycles did not try the same questions. */
  readonly delta: number | null;
  /** The same for each type of question. */
  readonly by_type: Readonly<Record<string, number | null>>;
  readonly gained: readonly string[];
  readonly lost: readonly string[];
  /** `regression` as soon as one type of question lost, whatever the others gained (OV-44). */
  readonly verdict: 'gain' | 'same' | 'regression' | 'not comparable';
}

/**
 * Score by cycle (OV-45), in order, for the outcomes of one team in one run. A question keeps the type of its first outcome: the type is the
 * planner's opinion, and a question that changed its mind would look like a loss of one type and a gain of another.
 */
export function scoreByCycle(outcomes: readonly CycleOutcome[]): CycleReport[] {
  const typeOf = new Map<string, string>();
  for (const { task_id, question_type } of outcomes) {
    if (!typeOf.has(task_id)) typeOf.set(task_id, question_type);
  }
  const typed = outcomes.map((outcome) => ({
    ...outcome,
    question_type: typeOf.get(outcome.task_id) ?? outcome.question_type,
  }));
  const cycles = [...Map.groupBy(typed, ({ cycle }) => cycle)].sort(([a], [b]) => a - b);
  return cycles.map(([cycle, tried], index) => ({
    cycle,
    ...tally(tried),
    first: tally(tried.filter(isFirst)),
    repeats: tally(tried.filter((outcome) => !isFirst(outcome))),
    by_type: Object.fromEntries([...byType(tried)].map(([type, ofType]) => [type, tally(ofType)])),
    change: index === 0 ? null : change(cycles[index - 1]?.[1] ?? [], tried),
  }));
}

/** Score by number of the attempt (OV-45): 1 is the first. */
export function scoreByAttempt(
  outcomes: readonly CycleOutcome[],
): (Tally & { readonly attempt_number: number })[] {
  return [...Map.groupBy(outcomes, ({ attempt_number }) => attempt_number)]
    .sort(([a], [b]) => a - b)
    .map(([attempt_number, tried]) => ({ attempt_number, ...tally(tried) }));
}

function change(before: readonly CycleOutcome[], after: readonly CycleOutcome[]): CycleChange {
  const was = byType(before);
  const deltas = new Map(
    [...byType(after)].map(([type, tried]) => [type, delta(was.get(type) ?? [], tried)]),
  );
  // A type that was not tried again cannot be compared either.
  for (const type of was.keys()) if (!deltas.has(type)) deltas.set(type, null);
  const typesWhere = (fits: (delta: number) => boolean) =>
    [...deltas].filter(([, value]) => value !== null && fits(value)).map(([type]) => type);
  const gained = typesWhere((value) => value > 0);
  const lost = typesWhere((value) => value < 0);
  const total = delta(before, after);
  return {
    delta: total,
    by_type: Object.fromEntries(deltas),
    gained,
    lost,
    verdict: verdictOf(total, gained, lost),
  };
}

function verdictOf(
  total: number | null,
  gained: readonly string[],
  lost: readonly string[],
): CycleChange['verdict'] {
  if (lost.length > 0) return 'regression';
  if (total === null) return 'not comparable';
  return gained.length > 0 ? 'gain' : 'same';
}

/** Only over the same questions: a cycle that tries the easy ones, or those that failed, is no better or worse for it. */
function delta(before: readonly CycleOutcome[], after: readonly CycleOutcome[]): number | null {
  if (tasksOf(before) !== tasksOf(after)) return null;
  const [was, is] = [tally(before).score, tally(after).score];
  return was === null || is === null ? null : is - was;
}

/** The questions with a true answer, as one text. */
function tasksOf(outcomes: readonly CycleOutcome[]): string {
  const scored = outcomes.filter(({ correct }) => correct !== null);
  return JSON.stringify([...new Set(scored.map(({ task_id }) => task_id))].sort());
}

function tally(outcomes: readonly CycleOutcome[]): Tally {
  const correct = outcomes.filter((outcome) => outcome.correct === true).length;
  const unscored = outcomes.filter((outcome) => outcome.correct === null).length;
  const scored = outcomes.length - unscored;
  return {
    attempted: outcomes.length,
    unscored,
    correct,
    score: scored === 0 ? null : correct / scored,
    ...wilson(correct, scored),
  };
}

function byType(outcomes: readonly CycleOutcome[]): Map<string, CycleOutcome[]> {
  return Map.groupBy(outcomes, ({ question_type }) => question_type);
}

function isFirst({ attempt_number }: CycleOutcome): boolean {
  return attempt_number === 1;
}
