import { type Attempt, getUse } from '../attempts/attempt.ts';

/** An attempt, as far as a page has room for it: its long texts are cut, and what it took is added up. */
export interface ShownAttempt
  extends Pick<
    Attempt,
    | 'task_id'
    | 'team'
    | 'cycle'
    | 'status'
    | 'final_answer'
    | 'truth'
    | 'correct'
    | 'reasoning_trace'
    | 'normalized_em'
    | 'f1'
    | 'tool_calls'
  > {
  readonly reason: string | undefined;
  readonly model_calls: number | undefined;
  readonly cached: Attempt['cached'] | undefined;
  readonly took: Attempt['took'] | undefined;
  readonly use: ReturnType<typeof getUse>;
}

/** Answers and reasons are mostly short; what is longer is no bare answer. */
const MAX_ANSWER_CHARACTERS = 400;

/** @param room characters of the reasoning that are kept */
export function showAttempt(attempt: Attempt, room: number): ShownAttempt {
  const { task_id, team, cycle, status, final_answer, truth, reason, reasoning_trace } = attempt;
  const { correct, normalized_em, f1, model_calls, tool_calls, cached, took } = attempt;
  return {
    task_id,
    team,
    cycle,
    status,
    correct,
    normalized_em,
    f1,
    model_calls,
    tool_calls,
    cached,
    took,
    final_answer: cutEnd(final_answer, MAX_ANSWER_CHARACTERS),
    truth: truth === null ? null : cutEnd(truth, MAX_ANSWER_CHARACTERS),
    reason: reason === undefined ? undefined : cutEnd(reason, MAX_ANSWER_CHARACTERS),
    reasoning_trace: cutMiddle(reasoning_trace, room),
    use: getUse(attempt),
  };
}

/** Returns `text`, or its beginning and how much is left out. */
export function cutEnd(text: string, most: number): string {
  return text.length <= most
    ? text
    : `${text.slice(0, most).toWellFormed()} [cut: ${text.length - most} more characters]`;
}

/** A trace begins with the question's way and ends with the answer: what is left out is between. */
function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  const [begin, end] = [text.slice(0, half).toWellFormed(), text.slice(-half).toWellFormed()];
  return `${begin}\n[cut: ${text.length - 2 * half} characters]\n${end}`;
}
