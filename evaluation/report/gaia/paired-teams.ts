import type { FinishedBatch } from '../../batch/finished-batch.ts';
import { BASELINE } from '../../results/baseline.ts';
import { type JudgedAnswers, judgeAnswers, type PairedCounts } from '../../statistics/paired-answers.ts';

/** A team against the baseline on the questions that both were asked. */
export interface Compared {
  readonly counts: PairedCounts;
  readonly judged: JudgedAnswers;
}

/** By first attempts: later ones have seen the question. Empty where the baseline was not asked; teams that share no question with it are left out. */
export function againstBaseline({ head, questions, read }: FinishedBatch): Map<string, Compared> {
  const names = head.teams.map(({ name }) => name);
  if (!names.includes(BASELINE)) return new Map();
  const others = names.filter((name) => name !== BASELINE);
  const sums = new Map(others.map((name) => [name, { both: 0, onlyBaseline: 0, onlyOther: 0, neither: 0 }]));
  for (const { taskId, truths } of questions) {
    const base = truths.length === 0 ? undefined : read({ task_id: taskId, team: BASELINE, cycle: 1 });
    if (base === undefined) continue;
    for (const [team, sum] of sums) {
      const other = read({ task_id: taskId, team, cycle: 1 });
      if (other === undefined) continue;
      sum[fateOf(base.correct === true, other.correct === true)] += 1;
    }
  }
  const shared = [...sums].filter(([, sum]) => Object.values(sum).some((n) => n > 0));
  const judged = judgeAnswers(shared.map(([, sum]) => sum));
  return new Map(
    shared.flatMap(([team, counts], index) => {
      const verdict = judged[index];
      return verdict === undefined ? [] : [[team, { counts, judged: verdict }] as const];
    }),
  );
}

function fateOf(isBaseRight: boolean, isOtherRight: boolean): keyof PairedCounts {
  if (isBaseRight) return isOtherRight ? 'both' : 'onlyBaseline';
  return isOtherRight ? 'onlyOther' : 'neither';
}
