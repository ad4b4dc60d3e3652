import { type Attempt, getUse } from '../../attempts/attempt.ts';
import type { FinishedBatch } from '../../batch/finished-batch.ts';
import { isToolStep, splitSteps } from '../../results/failures/trace-steps.ts';
import { count, formatDecimals, toOneLine } from '../../terminal/table.ts';
import { bindNumbers, formatBytes, formatCounted } from '../wording.ts';

/**
 * Outcome of an attempt: `r`ight, `w`rong, `f`ailed, out of `t`ime, answered but the true answer is `u`nknown, `-` not asked. Upper case
 * means that the answer came from the cache. It is one letter, as there may be a hundred thousand.
 */
type Mark = string;

/** One attempt, as far as the page has room for it. */
interface AttemptView {
  readonly answer: string;
  readonly reason: string | null;
  /** Tokens, packets, bytes and time, in words. */
  readonly took: string;
  /** `read_excel 2, calculator 1 (1 failed)`; empty where no tool was asked. */
  readonly tools: string;
  readonly steps: readonly { readonly isTool: boolean; readonly text: string }[];
}

export interface QuestionView {
  readonly id: string;
  readonly level: string | null;
  readonly kind: string;
  readonly file: string | null;
  readonly text: string;
  /** null where nobody knows. */
  readonly truth: string | null;
  /** By cycle, and in it by team: its {@link Mark}s. */
  readonly marks: readonly Mark[];
  /** Attempts in the same order; null for one that is not on the page or was not asked. */
  readonly attempts: readonly (readonly (AttemptView | null)[])[];
}

export interface QuestionsView {
  readonly teams: readonly string[];
  readonly cycles: number;
  readonly questions: readonly QuestionView[];
  /** Notes on the parts of the batch that are not on the page. */
  readonly notes: readonly string[];
}

/** A page of so many questions opens in about a second. */
const MAX_QUESTIONS = 2000;
/** Attempts with their texts; of the others the mark alone. */
const MAX_ATTEMPTS = 30_000;
/** All traces together: with them the page has some 10 MB, which browsers read at once. */
const TRACE_CHARACTERS = 8 * 1024 * 1024;
/** Warnings that are shown; a person reads no more. */
const MAX_WARNINGS = 30;
/** Maximum characters of one trace. */
const MAX_TRACE_CHARACTERS = 8000;
const MAX_QUESTION_CHARACTERS = 2000;
const MAX_ANSWER_CHARACTERS = 400;

/** The questions with what each team made of them, as many as a page should hold. */
export function buildQuestionsView({ head, questions, read }: FinishedBatch): QuestionsView {
  const teams = head.teams.map(({ name }) => name);
  const shown = questions.slice(0, MAX_QUESTIONS);
  const perCycle = Math.max(1, shown.length * teams.length);
  const detailed = Math.max(1, Math.min(head.repeat, Math.floor(MAX_ATTEMPTS / perCycle)));
  const room = Math.min(MAX_TRACE_CHARACTERS, Math.floor(TRACE_CHARACTERS / (perCycle * detailed)));
  let isCut = false;
  const warnings: string[] = [];
  const views = shown.map(({ taskId, question, level, category, fileName, truths }): QuestionView => {
    const marks: Mark[] = [];
    const attempts: (AttemptView | null)[][] = [];
    for (let cycle = 1; cycle <= head.repeat; cycle++) {
      const results = teams.map((team) => read({ task_id: taskId, team, cycle }));
      marks.push(results.map(markAttempt).join(''));
      for (const result of results)
        for (const warning of result?.warnings ?? [])
          warnings.push(`Warning (${result?.task_id}, ${result?.team}): ${warning}.`);
      if (cycle > detailed) continue;
      isCut ||= results.some((result) => (result?.reasoning_trace.length ?? 0) > room);
      attempts.push(results.map((result) => (result === undefined ? null : toAttemptView(result, room))));
    }
    return {
      id: toOneLine(taskId, 80),
      level: level === undefined ? null : toOneLine(level, 20),
      kind: toOneLine(category, 40),
      file: fileName === undefined ? null : toOneLine(fileName, 120),
      text: cutEnd(question, MAX_QUESTION_CHARACTERS),
      truth: truths.length === 0 ? null : cutEnd(truths.join(' | '), MAX_ANSWER_CHARACTERS),
      marks,
      attempts,
    };
  });
  const notes = [
    ...(shown.length < questions.length
      ? [
          `The page holds the first ${formatCounted(shown.length, 'question')} of ${count(questions.length)}; the figures above are of all.`,
        ]
      : []),
    ...(detailed < head.repeat
      ? [`Answers and traces are those of the first ${formatCounted(detailed, 'cycle')} of ${head.repeat}.`]
      : []),
    ...warnings.slice(0, MAX_WARNINGS).map((warning) => toOneLine(warning, 400)),
    ...(warnings.length > MAX_WARNINGS
      ? [`The answers file has ${count(warnings.length - MAX_WARNINGS)} more warnings.`]
      : []),
    ...(isCut ? [`Traces are cut to ${count(room)} characters; the answers file has the whole.`] : []),
  ];
  return { teams, cycles: head.repeat, questions: views, notes: notes.map(bindNumbers) };
}

/** The {@link Mark} of an attempt. */
function markAttempt(result: Pick<Attempt, 'status' | 'correct' | 'cached'> | undefined): Mark {
  if (result === undefined) return '-';
  const mark =
    result.status === 'timeout'
      ? 't'
      : result.status === 'failed'
        ? 'f'
        : result.correct === null
          ? 'u'
          : result.correct
            ? 'r'
            : 'w';
  return result.cached ? mark.toUpperCase() : mark;
}

function formatUse(
  { tokens, packets, bytes, seconds, cost }: NonNullable<Attempt['took']>,
  modelCalls?: number,
): string {
  return [
    tokens === null ? 'tokens not known' : formatCounted(tokens, 'token'),
    formatCounted(packets, 'packet'),
    formatBytes(bytes),
    `${formatDecimals(seconds, 2)} s`,
    ...(modelCalls === undefined ? [] : [formatCounted(modelCalls, 'model call')]),
    ...(cost === null || cost === 0 ? [] : [`$${formatDecimals(cost, 4)}`]),
  ].join(' · ');
}

function toAttemptView(result: Attempt, room: number): AttemptView {
  const { final_answer, reason, model_calls = 0, cached } = result;
  const use = getUse(result);
  const took = cached
    ? `from the cache in ${formatDecimals(use.seconds, 3)} s${result.took === undefined ? '' : `; when it was asked: ${formatUse(result.took)}`}`
    : formatUse(use, model_calls);
  const tools = result.tool_calls.map(({ tool, count: times, failed }) =>
    failed === 0 ? `${tool} ${times}` : `${tool} ${times} (${failed} failed)`,
  );
  return {
    answer: cutEnd(final_answer, MAX_ANSWER_CHARACTERS),
    reason:
      reason === undefined || final_answer.includes(reason) ? null : cutEnd(reason, MAX_ANSWER_CHARACTERS),
    took: bindNumbers(took),
    tools: toOneLine(tools.join(', '), 400),
    steps: splitSteps(cutMiddle(result.reasoning_trace, room)).map((text) => ({
      isTool: isToolStep(text),
      text,
    })),
  };
}

/** `text`, or its beginning and how much is left out. */
function cutEnd(text: string, most: number): string {
  return text.length <= most
    ? text
    : `${text.slice(0, most).toWellFormed()} [cut: ${count(text.length - most)} more]`;
}

/** A trace begins with the question's way and ends with the answer: what is left out is between. */
function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  const [begin, end] = [text.slice(0, half).toWellFormed(), text.slice(-half).toWellFormed()];
  return `${begin}\n[cut: ${count(text.length - 2 * half)} characters]\n${end}`;
}
