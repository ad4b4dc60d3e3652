import type { TaskResult } from '../../results/task-result.ts';
import { count, decimals, oneLine } from '../../terminal/table.ts';
import {
  type AttemptView,
  cutEnd,
  MAX_ANSWER_CHARACTERS,
  MAX_QUESTION_CHARACTERS,
  MAX_QUESTIONS,
  markOf,
  type QuestionsView,
} from '../gaia/questions-view.ts';
import { bound, bytesText, counted } from '../wording.ts';
import type { ArchivedRun } from './archived-run.ts';

/** The answers of a batch, to be looked through: wrong ones above all; null for a run of one task. */
export function answersView({ metrics, recording, results }: ArchivedRun): QuestionsView | null {
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
          `The page holds the first ${counted(shown.length, 'answer')} of ${count(results.length)}; results.jsonl has them all.`,
        ];
  return {
    teams: [oneLine(metrics.team, 40)],
    cycles: 1,
    questions: shown.map((result) => ({
      id: oneLine(result.task_id, 80),
      level: null,
      kind: '',
      file: null,
      text: cutEnd(asked.get(result.task_id) ?? result.task_id, MAX_QUESTION_CHARACTERS),
      truth: result.truth === null ? null : cutEnd(result.truth, MAX_ANSWER_CHARACTERS),
      marks: [
        markOf({
          status: result.status,
          correct: result.normalized_em === null ? null : result.normalized_em === 1,
          cached: result.cached === true,
        }),
      ],
      attempts: [[attemptOf(result)]],
    })),
    notes: left.map(bound),
  };
}

function attemptOf({ answer, reason, ...result }: TaskResult): AttemptView {
  const scores = [
    ...(result.f1 === null ? [] : [`F1 ${decimals(result.f1, 2)}`]),
    ...(result.rouge_l === null ? [] : [`ROUGE-L ${decimals(result.rouge_l, 2)}`]),
  ];
  const took = [
    ...scores,
    counted(result.token_sum, 'token'),
    counted(result.pkt_cnt, 'packet'),
    bytesText(result.bytes_rx + result.bytes_tx),
    `${decimals(result.elapsed_ms, 1)} ms`,
  ].join(' · ');
  return {
    answer: cutEnd(answer ?? 'No answer.', MAX_ANSWER_CHARACTERS),
    reason: reason === undefined ? null : cutEnd(reason, MAX_ANSWER_CHARACTERS),
    took: bound(took),
    tools: '',
    steps: [],
  };
}
