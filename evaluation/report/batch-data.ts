import type { FinishedBatch } from '../batch/finished-batch.ts';
import { compareTeams } from '../compare/teams/compare-teams.ts';
import { findKnownUse } from '../results/figures.ts';
import type { TeamSummary } from '../results/summary.ts';
import { count, toOneLine } from '../terminal/table.ts';
import type { BatchData } from './page-data.ts';
import { cutEnd, type ShownAttempt, showAttempt } from './shown-attempt.ts';

/** A batch of questions with the summaries of its teams. */
interface BatchSource {
  readonly batch: FinishedBatch;
  readonly summaries: Readonly<Record<string, TeamSummary>>;
}

/** Maximum questions of a page; it then opens in about a second. */
const MAX_QUESTIONS = 2000;
/** Maximum attempts of all questions and teams; the page has the first cycles that fit. */
const MAX_ATTEMPTS = 30_000;
/** Maximum characters of all traces together; with them the page has some 10 MB, which browsers read at once. */
const TRACE_CHARACTERS = 8 * 1024 * 1024;
/** Maximum characters of one trace. */
const MAX_TRACE_CHARACTERS = 8000;
/** Warnings that are shown; a person reads no more. */
const MAX_WARNINGS = 30;
const MAX_QUESTION_CHARACTERS = 2000;
const MAX_TRUTH_CHARACTERS = 400;

/** Collects the data for the page of a batch: all of its figures, and as many questions as a page can hold. */
export function readBatchData(
  { batch, summaries }: BatchSource,
  comparison = compareTeams({ batch, summaries }),
): BatchData {
  const { head, questions, read } = batch;
  const { repeat } = head;
  const shown = head.questions.slice(0, MAX_QUESTIONS);
  const perCycle = Math.max(1, shown.length * head.teams.length);
  const cyclesShown = Math.max(1, Math.min(repeat, Math.floor(MAX_ATTEMPTS / perCycle)));
  const room = Math.min(MAX_TRACE_CHARACTERS, Math.floor(TRACE_CHARACTERS / (perCycle * cyclesShown)));
  const attempts: ShownAttempt[] = [];
  const warnings: string[] = [];
  let isCut = false;
  for (const { task_id } of shown)
    for (let cycle = 1; cycle <= repeat; cycle++)
      for (const { name: team } of head.teams) {
        const attempt = read({ task_id, team, cycle });
        for (const text of attempt?.warnings ?? [])
          warnings.push(toOneLine(`Warning (${task_id}, ${team}): ${text}.`, 400));
        if (attempt === undefined || cycle > cyclesShown) continue;
        isCut ||= attempt.reasoning_trace.length > room;
        attempts.push(showAttempt(attempt, room));
      }
  const warningsLeft = warnings.length - MAX_WARNINGS;
  return {
    cyclesShown,
    attempts,
    comparison: { ...comparison, arms: comparison.arms.map((arm) => ({ ...arm, samples: { right: [] } })) },
    teams: head.teams.flatMap(({ name }) => {
      const { [name]: summary } = summaries;
      return summary === undefined ? [] : [{ name, summary, use: findKnownUse(summary) }];
    }),
    questions: shown.map((question) => ({
      ...question,
      question: cutEnd(question.question, MAX_QUESTION_CHARACTERS),
      truths: question.truths.map((truth) => cutEnd(truth, MAX_TRUTH_CHARACTERS)),
    })),
    notes: [
      ...(shown.length < questions.length
        ? [
            `The page holds the first ${count(shown.length)} questions of ${count(questions.length)}; the figures above are of all.`,
          ]
        : []),
      ...(cyclesShown < repeat
        ? [
            `Answers and traces are those of the first ${cyclesShown === 1 ? 'cycle' : `${cyclesShown} cycles`} of ${repeat}.`,
          ]
        : []),
      ...warnings.slice(0, MAX_WARNINGS),
      ...(warningsLeft > 0 ? [`Further warnings in the answers file: ${count(warningsLeft)}.`] : []),
      ...(isCut ? [`Traces are cut to ${count(room)} characters; the answers file has the whole.`] : []),
    ],
  };
}
