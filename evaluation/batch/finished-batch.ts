import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { explainFileFault, MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { deriveBatchPaths } from '../plan/batch-places.ts';
import type { Question } from '../questions/question.ts';
import type { GaiaResult } from '../results/gaia-result.ts';
import { summarizeTeam, type TeamSummary } from '../results/summary.ts';
import { type BatchHead, checkSameBatch, listHeadQuestions, readBatchHead } from './journal/batch-head.ts';
import { parseJournalHeader } from './journal/journal.ts';
import { JournalIndex, type ResultKey } from './journal/journal-index.ts';

/** A batch as its files tell it: what it is of, and what came of each attempt that is finished. */
export interface FinishedBatch {
  readonly head: BatchHead;
  readonly questions: readonly Question[];
  /** One at a time: a batch may be larger than memory. */
  readonly read: (key: ResultKey) => GaiaResult | undefined;
}

/**
 * Opens a batch to look at it: one that is finished, that was broken off, or that is on.
 *
 * @param file its answers, its journal, or its `.batch.json`: the others are beside it
 * @throws MeshError `usage` where they are not, `store` for a damaged journal
 */
export function openBatch(file: string): FinishedBatch & { readonly answers: string; close(): void } {
  const { answers, head: headFile, journal } = findBatchFiles(file);
  const head = readBatchHead(headFile);
  let descriptor: number;
  try {
    descriptor = openSync(journal, 'r');
  } catch (error) {
    throw new MeshError('usage', `${journal}: ${explainFileFault(error)}: npm run gaia writes it`, {
      cause: error,
    });
  }
  try {
    const index = new JournalIndex(journal, descriptor);
    index.load((line, isWhole, where) => {
      // Of a batch that is just beginning there is no result yet.
      if (isWhole) checkSameBatch(head, headFile, parseJournalHeader(line, where).setup, journal);
      return isWhole;
    });
    const close = () => closeSync(descriptor);
    return { head, answers, questions: listHeadQuestions(head), read: (key) => index.read(key), close };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** What each of its teams came to. */
export function summarizeTeams({ head, questions, read }: FinishedBatch): Record<string, TeamSummary> {
  return Object.fromEntries(
    head.teams.map(({ name }) => [
      name,
      summarizeTeam(questions, head.repeat, ({ taskId }, cycle) =>
        read({ task_id: taskId, team: name, cycle }),
      ),
    ]),
  );
}

function findBatchFiles(file: string): { answers: string; head: string; journal: string } {
  if (file.endsWith('.batch.json')) {
    const answers = path.join(path.dirname(file), readBatchHead(file).answers);
    return { ...deriveBatchPaths(answers), answers, head: file };
  }
  const answers = file.replace(/\.journal$/, '');
  return { ...deriveBatchPaths(answers), answers };
}
