import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { describe, expect, test } from 'vitest';
import { deriveBatchPaths } from '../plan/batch-places.ts';
import { buildBatchHead } from '../plan/run-plan.ts';
import { loadTeam } from '../teams/load-team.ts';
import { openBatch, summarizeTeams } from './finished-batch.ts';
import { Journal } from './journal/journal.ts';
import { attemptOf, questionOf } from './testing/results.ts';

const setup = { questions: 'sha', repeat: '1' };

/** Writes the files of a batch with two questions, one of which is finished. */
function batchOf(): { answers: string; journal: Journal } {
  const answers = path.join(temporaryFolder(), 'a.jsonl');
  const { journal: file, head } = deriveBatchPaths(answers);
  const paths = { answers, head, journal: file, store: '' };
  const questions = [questionOf('lamp', { level: '2', fileName: 'lamp.txt' }), questionOf('bridge')];
  const teams = [{ team: loadTeam('single'), concurrency: 4 }];
  const plan = { paths, fingerprint: setup, repeat: 1, source: '/elsewhere/q.jsonl', teams, questions };
  const journal = Journal.open(paths, buildBatchHead(plan), false);
  journal.append(attemptOf('lamp', { final_answer: 'Zoë 🏁' }));
  return { answers, journal };
}

describe('a batch that is looked at', () => {
  test('while it is on has what is finished by then, and leaves the writer alone', () => {
    const { answers, journal } = batchOf();
    const before = readFileSync(journal.file);

    const batch = openBatch(answers);

    expect(batch.head).toMatchObject({
      answers: 'a.jsonl',
      source: '/elsewhere/q.jsonl',
      repeat: 1,
      setup,
      teams: [{ name: 'single', engine: 'extractive', model: null, routing: 'broadcast', agents: 1 }],
    });
    expect(batch.questions).toEqual([
      { ...questionOf('lamp', { level: '2' }), fileName: 'lamp.txt' },
      questionOf('bridge'),
    ]);
    expect(batch.read({ task_id: 'lamp', team: 'single', cycle: 1 })?.final_answer).toBe('Zoë 🏁');
    expect(batch.read({ task_id: 'bridge', team: 'single', cycle: 1 })).toBeUndefined();
    expect(summarizeTeams(batch).single).toMatchObject({ questions: 2, correct: 1, not_asked: 1 });
    batch.close();
    journal.append(attemptOf('bridge'));
    expect(readFileSync(journal.file).subarray(0, before.length)).toEqual(before);
    journal.close();
  });

  test('with a torn last line has the lines before, and the file is as it was', () => {
    const { answers, journal } = batchOf();
    journal.close();
    appendFileSync(journal.file, '{"task_id":"bri');
    const before = readFileSync(journal.file);

    const batch = openBatch(journal.file);

    expect(summarizeTeams(batch).single).toMatchObject({ correct: 1, not_asked: 1 });
    batch.close();
    expect(answers).toBe(batch.answers);
    expect(readFileSync(journal.file)).toEqual(before);
  });

  test.each([
    [
      'no head',
      (a: string) => a.replace('a.jsonl', 'b.jsonl'),
      /b\.batch\.json: there is no such file: npm .*run gaia/,
    ],
    [
      'a head that is none',
      (a: string) => {
        writeFileSync(deriveBatchPaths(a).head, '{"teams":[]}');
        return a;
      },
      /a\.batch\.json: expected the head of a batch: /,
    ],
    [
      'a head that is no JSON',
      (a: string) => {
        writeFileSync(deriveBatchPaths(a).head, '{');
        return a;
      },
      /a\.batch\.json: not JSON/,
    ],
    [
      'a journal that is none',
      (a: string) => {
        writeFileSync(deriveBatchPaths(a).journal, 'Dear diary\n');
        return a;
      },
      /this is not the journal of a batch/,
    ],
  ])('and has %s is refused', (_what, change, message) => {
    const { answers, journal } = batchOf();
    journal.close();

    expect(() => openBatch(change(answers))).toThrow(message);
  });
});
