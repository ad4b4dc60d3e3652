import type { FinishedBatch } from '../../batch/finished-batch.ts';
import { stripFolders } from '../../plan/making.ts';
import type { TeamSummary } from '../../results/summary.ts';
import { judgeAnswers, type PairedAttempts } from '../../statistics/answers/paired-answers.ts';
import { count } from '../../terminal/table.ts';
import { COMPARISON_VERSION, type RightVerdict, type TeamsComparison } from '../comparison-file.ts';
import { formatVerdicts } from '../comparison-text.ts';

/** The team with which the others are compared where it was asked, or else the first: a single agent without partners. */
const BASELINE = 'single';

/** Attempts at the scored questions, one text for each cycle, as `comparison.json` has them. */
type Samples = readonly string[];

/**
 * Compares the teams of a batch with the baseline by all attempts; those at one question count as one value. The family of pairs, which was
 * declared before the run, is judged together: each team against the baseline, or all pairs.
 */
export function compareTeams({
  batch,
  summaries,
}: {
  readonly batch: FinishedBatch;
  readonly summaries: Readonly<Record<string, TeamSummary>>;
}): TeamsComparison {
  const { head, questions } = batch;
  const samples = new Map(head.teams.map(({ name }) => [name, readSamples(batch, name)]));
  const baseline = samples.has(BASELINE) ? BASELINE : (head.teams[0]?.name ?? BASELINE);
  const others = [...samples.keys()].filter((name) => name !== baseline);
  const ordered = [baseline, ...others];
  const family =
    head.pairs === 'all'
      ? ordered.flatMap((base, index) => ordered.slice(index + 1).map((other) => ({ base, other })))
      : others.map((other) => ({ base: baseline, other }));
  const find = (name: string) => samples.get(name) ?? [];
  const judged = judgeRights(family.map(({ base, other }) => [find(base), find(other)]));
  const pairs = family.map((pair, index) => ({ ...pair, right: judged[index] ?? null }));
  const itself = (name: string) => {
    const [first, second] = find(name);
    return first === undefined || second === undefined
      ? null
      : (judgeRights([[[first], [second]]])[0] ?? null);
  };
  const file: TeamsComparison = {
    kind: 'teams',
    schema_version: COMPARISON_VERSION,
    sentence: null,
    command: head.command,
    measured_at: findEnd(batch),
    environment: { gaia_mesh: head.gaia_mesh, machine: head.machine ?? 'unknown' },
    baseline,
    warnings: listWarnings(batch, summaries),
    left_out: [],
    failed: [],
    arms: head.teams.flatMap(({ name, engine, model }): TeamsComparison['arms'] => {
      const summary = summaries[name];
      if (summary === undefined) return [];
      const { questions: all, answered, scored, correct, correct_lenient, accuracy, low, high } = summary;
      const right = pairs.find(({ base, other }) => base === baseline && other === name)?.right ?? null;
      const again = name === baseline ? null : itself(name);
      return [
        {
          name,
          engine,
          model,
          questions: all,
          answered,
          scored,
          correct,
          correct_lenient,
          accuracy,
          low,
          high,
          samples: { right: find(name) },
          vs_baseline: name === baseline ? null : { right },
          vs_itself: again === null ? null : { right: again },
        },
      ];
    }),
    questions: {
      source: head.source === null ? null : stripFolders(head.source),
      asked: questions.length,
      repeat: head.repeat,
      sha256: head.setup.questions ?? '',
    },
    further_pairs: pairs.filter(({ base }) => base !== baseline),
    null_test: { right: itself(baseline) },
  };
  return { ...file, sentence: formatVerdicts(file) };
}

/** Judges right answers of pairs together, each the second against the first; null where no question is in common. */
export function judgeRights(
  pairs: readonly (readonly [base: Samples, other: Samples])[],
): (RightVerdict | null)[] {
  const paired = pairs.map(([base, other]) => pairAttempts(base, other));
  const shared = paired.filter(({ questions }) => questions.length > 0);
  const judged = judgeAnswers(shared);
  return paired.map((pair) => judged[shared.indexOf(pair)] ?? null);
}

/** Pairs the attempts that both made; questions without any are left out. */
export function pairAttempts(base: Samples, other: Samples): PairedAttempts {
  let attempts = 1;
  const questions = Array.from({ length: base[0]?.length ?? 0 }, (_, index) => {
    const made = base.flatMap((cycle, place) => {
      const [ofBase = '-', ofOther = '-'] = [cycle[index], other[place]?.[index]];
      return ofBase === '-' || ofOther === '-' ? [] : [[Number(ofBase), Number(ofOther)] as const];
    });
    attempts = Math.max(attempts, made.length);
    const share = (side: 0 | 1) => made.reduce((sum, outcome) => sum + outcome[side], 0) / made.length;
    return { baseline: share(0), other: share(1) };
  }).filter(({ baseline }) => !Number.isNaN(baseline));
  return { questions, attempts };
}

/** Reads a team's attempts. One that could not be scored is not right; one that is missing was not made. */
function readSamples({ head, questions, read }: FinishedBatch, team: string): string[] {
  const scored = questions.filter(({ truths }) => truths.length > 0);
  return Array.from({ length: head.repeat }, (_, index) =>
    scored
      .map(({ taskId }) => {
        const correct = read({ task_id: taskId, team, cycle: index + 1 })?.correct;
        return correct === undefined ? '-' : correct === true ? '1' : '0';
      })
      .join(''),
  );
}

/** Warns that the figures are those of an unfinished batch. */
function listWarnings({ head }: FinishedBatch, summaries: Readonly<Record<string, TeamSummary>>): string[] {
  const missing = Object.entries(summaries).flatMap(([name, { not_asked, repeats, questions }]) => {
    const left = not_asked + (repeats?.not_asked ?? 0);
    return left === 0 ? [] : [`${name} ${count(left)} of ${count(questions * head.repeat)}`];
  });
  if (missing.length === 0) return [];
  return [
    `The batch is not finished, so these are the figures of a part. Not asked yet: ${missing.join(', ')}. The same command with --resume asks the rest`,
  ];
}

/** Finds when the last attempt ended; null before the first. A batch that was interrupted has not come to all cycles. */
function findEnd({ head, questions, read }: FinishedBatch): string | null {
  let last = 0;
  for (const { name: team } of head.teams)
    for (const { taskId: task_id } of questions)
      for (let cycle = head.repeat; cycle > 0; cycle--) {
        const ended = read({ task_id, team, cycle })?.ended_at;
        if (ended === undefined) continue;
        last = Math.max(last, ended);
        break;
      }
  return last === 0 ? null : new Date(last).toISOString();
}
