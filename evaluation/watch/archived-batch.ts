import { openBatch } from '../batch/finished-batch.ts';
import { toAttemptId } from '../questions/question.ts';
import { cutDetail, type Details } from './details.ts';
import { EventFeed } from './event-feed.ts';
import { buildBatchReport } from './finished-report.ts';
import { createResultEvent, createRunEvent, cutText } from './run-events.ts';
import type { WatchedRun } from './watched-run.ts';

/**
 * Opens a finished or interrupted batch of questions from its journal: each of its teams is a run. Packets are in the teams' own archives.
 *
 * @param file the batch's answers, journal, or head
 * @throws MeshError if the file is not a batch
 */
export function openArchivedBatch(file: string): WatchedRun {
  const clock = { ms: 0 };
  const feed = new EventFeed(() => clock.ms);
  const batch = openBatch(file);
  try {
    for (const { name, adapter, engine } of batch.head.teams) {
      const questions = batch.questions.length * batch.head.repeat;
      feed.add(createRunEvent({ run: name, team: name, adapter, engine, agents: [], questions }));
      for (let cycle = 1; cycle <= batch.head.repeat; cycle++) {
        for (const { taskId, question } of batch.questions) {
          const result = batch.read({ task_id: taskId, team: name, cycle });
          if (result === undefined) continue;
          clock.ms += 1000 * result.seconds;
          feed.add({ ...createResultEvent(result), text: cutText(question) });
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
