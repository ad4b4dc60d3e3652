import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { attemptOf, openTestJournal } from '../testing/results.ts';
import type { Journal } from './journal.ts';

const setup = { questions: 'abc', teams: 'single', engine: 'extractive' };

let folder = '';
let file = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-journal-'));
  file = path.join(folder, 'journal');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a journal with these results, and closes it. */
function written(...ids: string[]): void {
  const journal = openTestJournal(folder, false, setup);
  for (const id of ids) journal.append(attemptOf(id, { reasoning_trace: `Zoë 🏁\nof ${id}` }));
  journal.close();
}

function resumed<T>(work: (journal: Journal) => T): T {
  const journal = openTestJournal(folder, true, setup);
  try {
    return work(journal);
  } finally {
    journal.close();
  }
}

const key = (task_id: string, more: object = {}) => ({ task_id, team: 'single', cycle: 1, ...more });

describe('the journal', () => {
  test('has what was written, as it was, by question, cycle and team', () => {
    written('a', 'b');

    resumed((journal) => {
      expect([journal.size, journal.dropped]).toEqual([2, undefined]);
      expect(journal.read(key('b'))).toEqual(attemptOf('b', { reasoning_trace: 'Zoë 🏁\nof b' }));
      expect([
        journal.has(key('a')),
        journal.has(key('a', { cycle: 2 })),
        journal.has(key('a', { team: 'panel' })),
      ]).toEqual([true, false, false]);
      expect(journal.read(key('c'))).toBeUndefined();
      journal.append(attemptOf('a', { cycle: 2 }));
      expect(() => journal.append(attemptOf('a', { cycle: 2 }))).toThrow('is in the journal already');
    });
    expect(resumed((journal) => journal.size)).toBe(3);
  });

  test('asks again what ended without an answer when nothing shows that model and agents still worked', () => {
    const journal = openTestJournal(folder, false, setup);
    const ended = { status: 'failed', code: 'engine', seconds: 1 } as const;
    const attempts = [
      attemptOf('a', { status: 'timeout', ended_at: 1000 }),
      attemptOf('b', { seconds: 1, ended_at: 2000 }),
      attemptOf('c', { ...ended, ended_at: 3000 }),
      // d was already running when c failed, so it shows nothing about c; nor does the cache (e) or another team (f).
      attemptOf('d', { seconds: 1, ended_at: 3500 }),
      attemptOf('e', { cached: true, seconds: 0, ended_at: 4000 }),
      attemptOf('f', { team: 'panel', seconds: 1, ended_at: 5000 }),
      attemptOf('g', { status: 'timeout', ended_at: 6000 }),
    ];
    for (const attempt of attempts) journal.append(attempt);
    expect(journal.size).toBe(7);
    journal.close();

    resumed((again) => {
      const known = attempts.filter((attempt) => again.has(attempt)).map(({ task_id }) => task_id);
      expect([known.join(''), again.size]).toEqual(['abdef', 5]);
      expect(again.read(key('d'))).toEqual(attempts[3]);
      again.append(attemptOf('c', { seconds: 1, ended_at: 8000 }));
    });
    expect(resumed((again) => [again.size, again.has(key('c')), again.has(key('g'))])).toEqual([
      6,
      true,
      false,
    ]);
    expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(6);
  });

  test('cut within its last line says that its question is asked again, and what is added then is whole', () => {
    written('a', 'b');
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.subarray(0, -9));
    resumed((journal) => {
      expect([journal.has(key('a')), journal.has(key('b'))]).toEqual([true, false]);
      expect(journal.dropped).toContain(`${file}:2: the last line was cut off`);
      journal.append(attemptOf('b', { reasoning_trace: 'Zoë 🏁\nof b' }));
    });
    expect(readFileSync(file)).toEqual(bytes);
    expect(resumed((journal) => journal.dropped)).toBeUndefined();
  });

  test('damaged in the middle is refused with the line, and left as it is', () => {
    written('a', 'b', 'c');
    const text = readFileSync(file, 'utf8').replace('"task_id":"b"', '"task_id":b');
    writeFileSync(file, text);

    expect(() => resumed(() => undefined)).toThrow(`damaged at ${file}:2`);
    expect(() => resumed(() => undefined)).toThrow(expect.objectContaining({ code: 'store' }));
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('is not taken for one where it is another file', () => {
    written();
    for (const text of ['{"task_id": "a"}\n', 'my notes\n', '{"journal":1,"setup":{}}\n{}\n']) {
      writeFileSync(file, text);
      expect(() => resumed(() => undefined)).toThrow('this is not the journal of a batch');
      expect(readFileSync(file, 'utf8')).toBe(text);
    }
  });

  test('of another set-up is refused, with what differs', () => {
    written('a');

    const other = { questions: 'abc', teams: 'panel', engine: 'extractive', model: 'm' };
    expect(() => openTestJournal(folder, true, other)).toThrow(
      'model: none then, m now; teams: single then, panel now',
    );
    expect(() => openTestJournal(folder, true, other)).toThrow(expect.objectContaining({ code: 'usage' }));
    expect(resumed((journal) => journal.size)).toBe(1);
  });

  test('is put aside when a batch begins anew', () => {
    written('a');
    written();

    expect(resumed((journal) => journal.size)).toBe(0);
    expect(readFileSync(`${file}.previous`, 'utf8')).toContain('"task_id":"a"');
  });

  test('belongs to one process at a time, and to nobody when that has died', () => {
    const journal = openTestJournal(folder, false, setup);
    expect(() => openTestJournal(folder, true, setup)).toThrow(expect.objectContaining({ code: 'locked' }));
    journal.close();
    expect(existsSync(`${file}.lock`)).toBe(false);

    // No machine has a process with this id, so that the holder of the lock counts as ended.
    writeFileSync(`${file}.lock`, '2147483647\n');
    expect(resumed((again) => again.size)).toBe(0);
  });
});
