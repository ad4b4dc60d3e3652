import type { Attempt } from '../../attempts/attempt.ts';
import { toAttemptId } from '../../questions/question.ts';
import { count, formatDecimals, toOneLine } from '../../terminal/table.ts';
import {
  type AttemptView,
  cutEnd,
  MAX_ANSWER_CHARACTERS,
  MAX_QUESTION_CHARACTERS,
  MAX_QUESTIONS,
  markAttempt,
  type QuestionsView,
} from '../gaia/questions-view.ts';
import { bindNumbers, formatBytes, formatCounted } from '../wording.ts';
import type { ArchivedRun } from './archived-run.ts';

/** The answers of a batch, to be looked through: wrong ones above all; null for a run of one task. */
export function buildAnswersView({ metrics, recording, results }: ArchivedRun): QuestionsView | null {
  if (results.length === 0) return null;
  const asked = new Map<string, string>();
  for (const { cause, packet } of recording?.packets ?? []) {
    const { question } = packet.payload;
    if (cause === null && typeof question === 'string') asked.set(packet.task_id, question);
  }
  const shown = results.slice(0, MAX_QUESTIONS);
  const left =
    shown.length === results.length
      ? []
      : [
          `The page holds the first ${formatCounted(shown.length, 'answer')} of ${count(results.length)}; results.jsonl has them all.`,
        ];
  return {
    teams: [toOneLine(metrics.team, 40)],
    cycles: 1,
    questions: shown.map(({ task_id, cycle, ...result }) => ({
      id: toOneLine(toAttemptId(task_id, cycle), 80),
      level: null,
      kind: '',
      file: null,
      text: cutEnd(asked.get(toAttemptId(task_id, cycle)) ?? task_id, MAX_QUESTION_CHARACTERS),
      truth: result.truth === null ? null : cutEnd(result.truth, MAX_ANSWER_CHARACTERS),
      marks: [
        markAttempt({
          status: result.status,
          correct: result.normalized_em === null ? null : result.normalized_em === 1,
          cached: result.cached,
        }),
      ],
      attempts: [[toAttemptView(result)]],
    })),
    notes: left.map(bindNumbers),
  };
}

function toAttemptView({ answer, reason, ...result }: Omit<Attempt, 'task_id' | 'cycle'>): AttemptView {
  const scores = [
    ...(result.f1 === null ? [] : [`F1 ${formatDecimals(result.f1, 2)}`]),
    ...(result.rouge_l === null ? [] : [`ROUGE-L ${formatDecimals(result.rouge_l, 2)}`]),
  ];
  const took = [
    ...scores,
    formatCounted(result.token_sum, 'token'),
    formatCounted(result.pkt_cnt, 'packet'),
    formatBytes(result.bytes_rx + result.bytes_tx),
    `${formatDecimals(result.elapsed_ms, 1)} ms`,
  ].join(' · ');
  return {
    answer: cutEnd(answer ?? 'No answer.', MAX_ANSWER_CHARACTERS),
    reason: reason === undefined ? null : cutEnd(reason, MAX_ANSWER_CHARACTERS),
    took: bindNumbers(took),
    tools: '',
    steps: [],
  };
}
