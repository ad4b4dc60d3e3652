import type { RecordedAttempt } from '@gaia-mesh/tools/roles/memory/attempt.ts';
import { formatHint, type StoredGapRecord } from '@gaia-mesh/tools/roles/memory/gap-record.ts';
import { type JudgedAnswers, judgeAnswers } from '../../statistics/answers/paired-answers.ts';

/** The effect of a gap record on questions other than the one that it was made from. */
export interface GapEffect
  extends Pick<JudgedAnswers, 'questions' | 'difference' | 'low' | 'high' | 'verdict'> {
  /** Questions that were right in the last attempt without the record, and in the first one with it. */
  readonly right_without: number;
  readonly right_with: number;
}

/** The parts of an attempt that tell what a record did. */
type Judged = Pick<
  RecordedAttempt,
  'id' | 'attempt_id' | 'team' | 'task_id' | 'question' | 'correct' | 'pm_brief'
>;

/**
 * Compares each question's last attempt before the record was in a brief with the first one whose brief has it. The record's own question is left
 * out: its attempt was chosen because it was wrong, and another one would be right more often without any record. All records are one
 * family of comparisons.
 */
export function computeGapEffects(
  records: readonly StoredGapRecord[],
  attempts: readonly Judged[],
): ReadonlyMap<number, GapEffect> {
  const scored = attempts.filter(({ correct }) => correct !== null).toSorted((a, b) => a.id - b.id);
  const byQuestion = Map.groupBy(scored, ({ team, task_id, question }) =>
    JSON.stringify([team, task_id, question]),
  );
  const tried = records.flatMap((record) => {
    const hint = formatHint(record);
    const questions = [...byQuestion.values()].flatMap((all) => {
      const first = all.findIndex(({ pm_brief }) => pm_brief.includes(hint));
      const isOwn = all.some(({ attempt_id }) => attempt_id === record.attempt_id);
      if (first < 1 || isOwn) return [];
      return [{ baseline: Number(all[first - 1]?.correct), other: Number(all[first]?.correct) }];
    });
    return questions.length === 0 ? [] : [{ id: record.id, questions }];
  });
  const judged = judgeAnswers(tried.map(({ questions }) => ({ attempts: 1, questions })));
  return new Map(
    tried.flatMap(({ id, questions }, index): [number, GapEffect][] => {
      const found = judged[index];
      if (found === undefined) return [];
      const { difference, low, high, verdict } = found;
      const right_without = questions.filter(({ baseline }) => baseline === 1).length;
      const right_with = questions.filter(({ other }) => other === 1).length;
      return [
        [id, { questions: questions.length, difference, low, high, verdict, right_without, right_with }],
      ];
    }),
  );
}
