import type { FinishedBatch } from '../../batch/finished-batch.ts';
import { BASELINE } from '../../results/baseline.ts';
import {
  type JudgedAnswers,
  judgeAnswers,
  type PairedCounts,
} from '../../statistics/answers/paired-answers.ts';

/** Two teams on the questions that both were asked. */
export interface Compared {
  readonly counts: PairedCounts;
  readonly judged: JudgedAnswers;
}

/** `other` set against `base`: its difference is that of `other` less that of `base`. */
interface TeamPair extends Compared {
  readonly base: string;
  readonly other: string;
}

export interface PairedTeams {
  /** Every pair, judged together: who compares all sees the luckiest of all. The baseline, where it was asked, is the base of its pairs. */
  readonly pairs: readonly TeamPair[];
  /** Each team's second attempts against its first, where questions were repeated: what luck, or learning, makes of nothing. */
  readonly itself: ReadonlyMap<string, Compared>;
}

/** By first attempts: later ones have seen the question. Pairs that share no question are left out. */
export function pairTeams({ head, questions, read }: FinishedBatch): PairedTeams {
  const names = head.teams.map(({ name }) => name);
  const ordered = [
    ...names.filter((name) => name === BASELINE),
    ...names.filter((name) => name !== BASELINE),
  ];
  const nobody = () => ({ both: 0, onlyBaseline: 0, onlyOther: 0, neither: 0 });
  const pairs = ordered.flatMap((base, index) =>
    ordered.slice(index + 1).map((other) => ({ base, other, counts: nobody() })),
  );
  const itself = new Map(head.repeat > 1 ? ordered.map((name) => [name, nobody()]) : []);
  for (const { taskId, truths } of questions) {
    if (truths.length === 0) continue;
    const rightOf = (team: string, cycle: number) => read({ task_id: taskId, team, cycle })?.correct;
    const first = new Map(ordered.map((team) => [team, rightOf(team, 1)]));
    for (const { base, other, counts } of pairs) countPair(counts, first.get(base), first.get(other));
    for (const [team, counts] of itself) countPair(counts, first.get(team), rightOf(team, 2));
  }
  const shared = pairs.filter(({ counts }) => isAny(counts));
  const judged = judgeAnswers(shared.map(({ counts }) => counts));
  return {
    pairs: shared.flatMap((pair, index) => {
      const verdict = judged[index];
      return verdict === undefined ? [] : [{ ...pair, judged: verdict }];
    }),
    itself: new Map(
      [...itself].flatMap(([team, counts]) => {
        const [verdict] = isAny(counts) ? judgeAnswers([counts]) : [];
        return verdict === undefined ? [] : [[team, { counts, judged: verdict }] as const];
      }),
    ),
  };
}

/** The pairs of the baseline, by the other team. Empty where the baseline was not asked. */
export function mapBaselinePairs({ pairs }: PairedTeams): Map<string, Compared> {
  return new Map(pairs.filter(({ base }) => base === BASELINE).map((pair) => [pair.other, pair]));
}

/** `null` is a question that was answered and could not be scored, which is not right; undefined was not asked. */
function countPair(
  counts: { -readonly [Key in keyof PairedCounts]: number },
  base: boolean | null | undefined,
  other: boolean | null | undefined,
): void {
  if (base !== undefined && other !== undefined) counts[classifyPair(base === true, other === true)] += 1;
}

function isAny(counts: PairedCounts): boolean {
  return Object.values(counts).some((questions) => questions > 0);
}

function classifyPair(isBaseRight: boolean, isOtherRight: boolean): keyof PairedCounts {
  if (isBaseRight) return isOtherRight ? 'both' : 'onlyBaseline';
  return isOtherRight ? 'onlyOther' : 'neither';
}
