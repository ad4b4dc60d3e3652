import { closeSync } from 'node:fs';
import path from 'node:path';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { openUserFile } from '@gaia-mesh/core/system/files/user-file.ts';
import { deriveBatchPaths } from '../plan/batch-places.ts';
import type { Question } from '../questions/question.ts';
import type { GaiaResult } from '../results/gaia-result.ts';
import { summarizeTeam, type TeamSummary } from '../results/summary.ts';
import { formatCommandLine } from '../terminal/shell-word.ts';
import { type BatchHead, checkSameBatch, listHeadQuestions, readBatchHead } from './journal/batch-head.ts';
import { parseJournalHeader } from './journal/journal.ts';
import { JournalIndex, type ResultKey } from './journal/journal-index.ts';

/** A batch read from its files: its questions, and the result of each finished attempt. */
export interface FinishedBatch {
  readonly head: BatchHead;
  readonly questions: readonly Question[];
  /** Reads one result; a batch may be larger than memory. */
  readonly read: (key: ResultKey) => GaiaResult | undefined;
}

/**
 * Opens a batch for reading, whether it is finished, interrupted or still running.
 *
 * @param file the answers, the journal or the `.batch.json`; the other two are expected beside it
 * @throws MeshError `usage` if one of them is missing, `store` for a damaged journal
 */
export function openBatch(file: string): FinishedBatch & { readonly answers: string; close(): void } {
  const { answers, head: headFile, journal } = findBatchFiles(file);
  const head = readBatchHead(headFile);
  let descriptor: number;
  try {
    descriptor = openUserFile(journal, { what: 'journal', code: 'usage' });
  } catch (error) {
    throw new MeshError('usage', `${toErrorMessage(error)}: ${formatCommandLine('gaia')} writes it`, {
      cause: error,
    });
  }
  try {
    const index = new JournalIndex(journal, descriptor);
    index.load((line, isWhole, where) => {
      // A batch that is just beginning has no results yet.
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

/** Summarizes each team of a batch. */
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
