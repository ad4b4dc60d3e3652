import type { NewRunEvent } from '@gaia-mesh/core/run/run-event.ts';
import { type Attempt, getUse } from '../attempts/attempt.ts';
import { openBatch } from '../batch/finished-batch.ts';
import { toAttemptId } from '../questions/question.ts';
import { cutDetail, type Details } from './details.ts';
import { EventFeed } from './event-feed.ts';
import { buildBatchReport } from './finished-report.ts';
import type { WatchedRun } from './watched-run.ts';

/**
 * Opens a finished or interrupted batch of questions from its journal: each of its teams is a run. Packets are in the teams' own archives.
 *
 * @param file the batch's answers, journal, or head
 * @throws MeshError if the file is not a batch
 */
export function openArchivedBatch(file: string): WatchedRun {
  let time = 0;
  const feed = new EventFeed(() => time);
  const batch = openBatch(file);
  try {
    for (const { name, adapter, engine } of batch.head.teams) {
      const questions = batch.questions.length * batch.head.repeat;
      feed.add({ event: 'run_began', run_id: name, team: name, adapter, engine, agents: [], questions });
      for (let cycle = 1; cycle <= batch.head.repeat; cycle++) {
        for (const { taskId, question } of batch.questions) {
          const result = batch.read({ task_id: taskId, team: name, cycle });
          if (result === undefined) continue;
          time += result.elapsed_ms;
          feed.add({ ...createResultEvent(result), question });
          feed.tick();
        }
      }
    }
    feed.end('ended');
  } finally {
    batch.close();
  }
  return { feed, details: createDetails(file), report: () => buildBatchReport(file) };
}

/** Creates the event of a batch's result. */
export function createResultEvent(attempt: Attempt): Extract<NewRunEvent, { event: 'task_ended' }> {
  const { task_id, cycle, status, final_answer, correct, elapsed_ms, reason, cached } = attempt;
  const { tokens, cost } = getUse(attempt);
  return {
    event: 'task_ended',
    task_id: toAttemptId(task_id, cycle),
    status,
    answer: status === 'answered' ? final_answer : null,
    reason,
    elapsed_ms,
    token_sum: tokens,
    correct: correct === null ? null : Number(correct),
    cost_usd: cost,
    cached,
  };
}

/** Creates the details of a batch, whose runs have the names of their teams. */
function createDetails(file: string): Details {
  return {
    log: async () => undefined,
    packet: async () => undefined,
    async reasoning(team, question) {
      const batch = openBatch(file);
      try {
        for (let cycle = 1; cycle <= batch.head.repeat; cycle++) {
          for (const { taskId } of batch.questions) {
            if (toAttemptId(taskId, cycle) !== question) continue;
            const result = batch.read({ task_id: taskId, team, cycle });
            return result === undefined ? undefined : cutDetail(result.reasoning_trace);
          }
        }
        return undefined;
      } finally {
        batch.close();
      }
    },
  };
}
