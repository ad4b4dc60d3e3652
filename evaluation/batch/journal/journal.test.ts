import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { attemptOf } from '../testing/results.ts';
import { Journal } from './journal.ts';

const setup = { questions: 'abc', teams: 'single', engine: 'extractive' };

let folder = '';
let file = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-journal-'));
  file = path.join(folder, 'answers.jsonl.journal');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A journal with these, closed again. */
function written(...ids: string[]): void {
  const journal = Journal.open(file, setup, { resume: false });
  for (const id of ids) journal.append(attemptOf(id, { reasoning_trace: `Zoë 🏁\nof ${id}` }));
  journal.close();
}

function resumed<T>(work: (journal: Journal) => T): T {
  const journal = Journal.open(file, setup, { resume: true });
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

  test('asks again what timed out after the last answer, when nothing shows that anything still worked', () => {
    const journal = Journal.open(file, setup, { resume: false });
    for (const [id, status] of Object.entries({
      a: 'timeout',
      b: 'answered',
      c: 'timeout',
      d: 'timeout',
    } as const))
      journal.append(attemptOf(id, { status }));
    expect(journal.size).toBe(4);
    journal.close();

    resumed((again) => {
      expect(['a', 'b', 'c', 'd'].filter((id) => again.has(key(id)))).toEqual(['a', 'b']);
      again.append(attemptOf('c', {}));
      expect(again.read(key('c'))?.status).toBe('answered');
    });
    expect(resumed((again) => [again.size, again.has(key('d'))])).toEqual([3, false]);
  });

  test('cut within its last line says that its question is asked again, and what is added then is whole', () => {
    written('a', 'b');
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.subarray(0, -9));
    resumed((journal) => {
      expect([journal.has(key('a')), journal.has(key('b'))]).toEqual([true, false]);
      expect(journal.dropped).toContain(`${file}:3: the last line was cut off`);
      journal.append(attemptOf('b', { reasoning_trace: 'Zoë 🏁\nof b' }));
    });
    expect(readFileSync(file)).toEqual(bytes);
    expect(resumed((journal) => journal.dropped)).toBeUndefined();
  });

  test('cut at any byte of its first line begins anew', () => {
    written();
    const bytes = readFileSync(file);
    for (let end = 0; end < bytes.length; end++) {
      truncateSync(file, 0);
      writeFileSync(file, bytes.subarray(0, end));
      expect(resumed((journal) => journal.size)).toBe(0);
      expect(readFileSync(file)).toEqual(bytes);
    }
  });

  test('damaged in the middle is refused with the line, and left as it is', () => {
    written('a', 'b');
    const text = readFileSync(file, 'utf8').replace('"task_id":"a"', '"task_id":a');
    writeFileSync(file, text);

    expect(() => resumed(() => undefined)).toThrow(`damaged at ${file}:2`);
    expect(() => resumed(() => undefined)).toThrow(expect.objectContaining({ code: 'store' }));
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('is not taken for one where it is another file', () => {
    for (const text of ['{"task_id": "a"}\n', 'my notes', '{"journal":1,"setup":{}, "more":1}\n{}\n']) {
      writeFileSync(file, text);
      expect(() => resumed(() => undefined)).toThrow('this is not the journal of a batch');
      expect(readFileSync(file, 'utf8')).toBe(text);
    }
  });

  test('of another set-up is refused, with what differs', () => {
    written('a');

    const other = { questions: 'abc', teams: 'panel', engine: 'extractive', model: 'm' };
    expect(() => Journal.open(file, other, { resume: true })).toThrow(
      'model: none then, m now; teams: single then, panel now',
    );
    expect(() => Journal.open(file, other, { resume: true })).toThrow(
      expect.objectContaining({ code: 'usage' }),
    );
    expect(resumed((journal) => journal.size)).toBe(1);
  });

  test('is put aside when a batch begins anew', () => {
    written('a');
    written();

    expect(resumed((journal) => journal.size)).toBe(0);
    expect(readFileSync(`${file}.previous`, 'utf8')).toContain('"task_id":"a"');
  });

  test('belongs to one process at a time, and to nobody when that has died', () => {
    const journal = Journal.open(file, setup, { resume: false });
    expect(() => Journal.open(file, setup, { resume: true })).toThrow(
      expect.objectContaining({ code: 'locked' }),
    );
    journal.close();
    expect(existsSync(`${file}.lock`)).toBe(false);

    // The number of a process that has ended: the largest there is on no machine.
    writeFileSync(`${file}.lock`, '2147483647\n');
    expect(resumed((again) => again.size)).toBe(0);
  });
});
