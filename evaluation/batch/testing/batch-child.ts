import { createHash } from 'node:crypto';
import { appendFileSync, existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { readQuestions } from '../../questions/read-questions.ts';
import { summarize } from '../../results/summary.ts';
import { writeAnswers, writeLines } from '../../results/write-results.ts';
import { type Batch, runBatch } from '../batch.ts';
import type { FinishedBatch } from '../finished-batch.ts';
import { attemptAt, openTestJournal, plainBatch } from './results.ts';

/**
 * Runs a batch with a scripted team, for tests that kill the process. An answer depends on its question alone. Arguments:
 * folder (with `questions.jsonl`), characters of a trace, questions at a time. It resumes an existing journal.
 */
const [folder = '', traceCharacters = '0', concurrency = '1'] = process.argv.slice(2);

const askTeam: Batch['askTeam'] = async (question, cycle) => {
  const { taskId } = question;
  appendFileSync(path.join(folder, 'asked'), `${taskId}\n`);
  const digest = createHash('sha256').update(taskId).digest('hex');
  await setTimeout(Number.parseInt(digest.slice(0, 1), 16) % 3);
  return attemptAt(question, cycle, {
    answer: Number.parseInt(digest.slice(1, 2), 16) % 2 === 0 ? `answer of ${taskId}` : 'something else',
    reasoningTrace: `Zoë 🏁 ${digest.repeat(Math.ceil(Number(traceCharacters) / digest.length))}`,
    tokens: Number.parseInt(digest.slice(2, 5), 16),
  });
};

const { questions, sha256 } = readQuestions(path.join(folder, 'questions.jsonl'));
const journal = openTestJournal(folder, existsSync(path.join(folder, 'journal')), { questions: sha256 });
const end = await runBatch({
  ...plainBatch,
  questions,
  askTeam,
  concurrency: Number(concurrency),
  journal,
  onEvent: ({ kind }) => process.stdout.write(`${kind}\n`),
  signal: new AbortController().signal,
});
if (end.kind !== 'finished') throw new Error(end.reason);
const read = (taskId: string) => journal.read({ task_id: taskId, team: 'single', cycle: 1 });
const head = { teams: [{ name: 'single' }], repeat: 1 } as unknown as FinishedBatch['head'];
writeAnswers({ head, questions, read: (key) => journal.read(key) }, path.join(folder, 'answers.jsonl'));
const { team: summary } = summarize(questions, 1, ({ taskId }) => read(taskId));
writeLines(path.join(folder, 'summary.json'), [JSON.stringify(summary)]);
journal.close();
