import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatCommandLine } from '@gaia-mesh/core/system/shell-word.ts';
import { deriveBatchPaths } from '../plan/batch-places.ts';
import type { Question } from '../questions/question.ts';
import { summarize, type TeamSummary } from '../results/summary.ts';
import { type BatchHead, listHeadQuestions, readBatchHead } from './journal/batch-head.ts';
import { openJournal } from './journal/journal.ts';

/** A batch read from its files: its questions, and the result of each finished attempt. */
export interface FinishedBatch extends Pick<ReturnType<typeof openJournal>, 'read'> {
  readonly head: BatchHead;
  readonly questions: readonly Question[];
}

/**
 * Opens a batch for reading, whether it is finished, interrupted or still running.
 *
 * @param file the answers, the journal or the `.batch.json`; the other two are expected beside it
 * @throws MeshError `usage` if one of them is missing, `store` for a damaged journal
 */
export function openBatch(file: string): FinishedBatch & { readonly answers: string; close(): void } {
  const headFile = file.endsWith('.batch.json')
    ? file
    : deriveBatchPaths(file.replace(/\.journal$/, '')).head;
  const head = readBatchHead(headFile);
  const findBeside = (name: string) => path.join(path.dirname(headFile), path.basename(name));
  try {
    const results = openJournal(findBeside(head.journal));
    return { head, answers: findBeside(head.answers), questions: listHeadQuestions(head), ...results };
  } catch (error) {
    if (!(error instanceof MeshError) || error.code !== 'usage') throw error;
    throw new MeshError('usage', `${error.message}: ${formatCommandLine('gaia')} writes it`, {
      cause: error,
    });
  }
}

/** Summarizes each team of a batch. */
export function summarizeTeams({ head, questions, read }: FinishedBatch): Record<string, TeamSummary> {
  return Object.fromEntries(
    head.teams.map(({ name }) => [
      name,
      summarize(questions, head.repeat, ({ taskId }, cycle) => read({ task_id: taskId, team: name, cycle }))
        .team,
    ]),
  );
}
