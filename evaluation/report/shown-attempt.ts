import { type Attempt, getUse } from '../attempts/attempt.ts';

/** An attempt in the form that a page shows: long texts are cut, and its resources are summed. */
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

/** Maximum characters of an answer or a reason. A longer text is not a bare answer. */
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

/** Returns `text`, or its beginning with a note on the number of missing characters. */
export function cutEnd(text: string, most: number): string {
  return text.length <= most
    ? text
    : `${text.slice(0, most).toWellFormed()} [cut: ${text.length - most} more characters]`;
}

/** Cuts the middle out of a trace, since its beginning has the plan and its end the answer. */
function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  const [begin, end] = [text.slice(0, half).toWellFormed(), text.slice(-half).toWellFormed()];
  return `${begin}\n[cut: ${text.length - 2 * half} characters]\n${end}`;
}
