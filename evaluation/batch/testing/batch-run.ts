import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach } from 'vitest';
import type { Question } from '../../questions/question.ts';
import { type Batch, type BatchEvent, runBatch } from '../batch.ts';
import type { Journal } from '../journal/journal.ts';
import { attemptAt, openTestJournal, plainBatch, questionOf, type Reply } from './results.ts';

/** The folder of the running test. */
export let folder = '';
export let journal: Journal;

/** Gives each test of the file a folder and a journal of its own. */
export function useBatchFolder(): void {
  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-batch-'));
    journal = openTestJournal(folder, false);
  });
  afterEach(() => {
    journal.close();
    rmSync(folder, { recursive: true, force: true });
  });
}

/** Opens the journal as a resumed batch does. */
export function reopenJournal(): void {
  journal.close();
  journal = openTestJournal(folder, true);
}

export const ids = (count: number) => Array.from({ length: count }, (_, i) => `q${i}`);

/** Creates a team that records the questions it receives and answers them with `answer`. */
export function teamOf(answer: (question: Question, cycle: number) => Reply | Promise<Reply> = rightly) {
  const asked: string[] = [];
  const askTeam: Batch['askTeam'] = async (question, cycle, signal) => {
    asked.push(cycle === 1 ? question.taskId : `${question.taskId}#${cycle}`);
    await setImmediate();
    signal.throwIfAborted();
    return attemptAt(question, cycle, await answer(question, cycle));
  };
  return { asked, askTeam };
}

export const rightly = (question: Question): Reply => ({ answer: question.truths[0] ?? '' });

export async function run(askTeam: Batch['askTeam'], count: number, more: Partial<Batch> = {}) {
  const events: BatchEvent[] = [];
  const end = await runBatch({
    ...plainBatch,
    questions: ids(count).map((id) => questionOf(id)),
    askTeam,
    concurrency: 1,
    journal,
    onEvent: (event) => events.push(event),
    signal: new AbortController().signal,
    ...more,
  });
  return { end, events };
}

export const kept = (id: string, cycle = 1) => journal.read({ task_id: id, team: 'single', cycle });
/** Never settles by itself, like a team whose model is silent. */
export const untilAborted: Batch['askTeam'] = (_question, _attempt, signal) =>
  new Promise((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
  );
