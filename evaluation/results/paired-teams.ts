import type { FinishedBatch } from '../batch/finished-batch.ts';
import {
  type JudgedAnswers,
  judgeAnswers,
  type PairedAttempts,
} from '../statistics/answers/paired-answers.ts';
import { findBaseline } from './baseline.ts';

/** Two teams on the questions that both were asked. */
export interface Compared {
  /** Questions that the other team got right more often than the base, and less often. */
  readonly won: number;
  readonly lost: number;
  readonly judged: JudgedAnswers;
}

/** `other` set against `base`: its difference is that of `other` less that of `base`. */
interface TeamPair extends Compared {
  readonly base: string;
  readonly other: string;
}

export interface PairedTeams {
  readonly baseline: string;
  /** The family that was declared before the run and is judged together: each team against the baseline, or all pairs. */
  readonly pairs: readonly TeamPair[];
  /** Each team's second attempts against its first, where questions were repeated: what luck, or learning, makes of nothing. */
  readonly itself: readonly (readonly [team: string, compared: Compared])[];
}

/** Compares by all attempts; those at one question count as one value. Pairs that share no question are left out. */
export function pairTeams({ head, questions, read }: FinishedBatch): PairedTeams {
  const names = head.teams.map(({ name }) => name);
  const baseline = findBaseline(names);
  const others = names.filter((name) => name !== baseline);
  const ordered = [baseline, ...others];
  const family =
    head.pairs === 'all'
      ? ordered.flatMap((base, index) => ordered.slice(index + 1).map((other) => ({ base, other })))
      : others.map((other) => ({ base: baseline, other }));
  const ids = questions.filter(({ truths }) => truths.length > 0).map(({ taskId }) => taskId);
  /** `null` is a question that was answered and could not be scored, which is not right; undefined was not asked. */
  const isRight = (task_id: string, team: string, cycle: number) => {
    const correct = read({ task_id, team, cycle })?.correct;
    return correct === undefined ? undefined : correct === true;
  };
  const cycles = Array.from({ length: head.repeat }, (_, index) => index + 1);
  const pairs = family.map(({ base, other }) => ({
    base,
    other,
    attempts: pairAttempts(ids, cycles, (id, cycle) => [isRight(id, base, cycle), isRight(id, other, cycle)]),
  }));
  const shared = pairs.filter(({ attempts }) => attempts.questions.length > 0);
  const judged = judgeAnswers(shared.map(({ attempts }) => attempts));
  return {
    baseline,
    pairs: shared.flatMap(({ attempts, ...pair }, index) => {
      const verdict = judged[index];
      return verdict === undefined ? [] : [{ ...pair, ...countWins(attempts), judged: verdict }];
    }),
    itself: (head.repeat > 1 ? ordered : []).flatMap((name) => {
      const attempts = pairAttempts(ids, [1], (id) => [isRight(id, name, 1), isRight(id, name, 2)]);
      const [verdict] = attempts.questions.length > 0 ? judgeAnswers([attempts]) : [];
      return verdict === undefined ? [] : [[name, { ...countWins(attempts), judged: verdict }] as const];
    }),
  };
}

/** The pairs of the baseline, by the other team. */
export function mapBaselinePairs({
  baseline,
  pairs,
}: Pick<PairedTeams, 'baseline' | 'pairs'>): Map<string, Compared> {
  return new Map(pairs.filter(({ base }) => base === baseline).map((pair) => [pair.other, pair]));
}

type Outcome = readonly [base: boolean | undefined, other: boolean | undefined];

/** Pairs the attempts that both sides made; questions without any are left out. */
function pairAttempts(
  ids: readonly string[],
  cycles: readonly number[],
  read: (id: string, cycle: number) => Outcome,
): PairedAttempts {
  let most = 1;
  const questions = ids.flatMap((id) => {
    const made = cycles
      .map((cycle) => read(id, cycle))
      .filter(([base, other]) => base !== undefined && other !== undefined);
    most = Math.max(most, made.length);
    const shareOf = (side: 0 | 1) => made.filter((outcome) => outcome[side]).length / made.length;
    return made.length === 0 ? [] : [{ baseline: shareOf(0), other: shareOf(1) }];
  });
  return { questions, attempts: most };
}

function countWins({ questions }: PairedAttempts): { readonly won: number; readonly lost: number } {
  return {
    won: questions.filter(({ baseline, other }) => other > baseline).length,
    lost: questions.filter(({ baseline, other }) => other < baseline).length,
  };
}
