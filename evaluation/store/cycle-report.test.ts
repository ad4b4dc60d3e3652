import { expect, test } from 'vitest';
import { type CycleOutcome, scoreByAttempt, scoreByCycle } from './cycle-report.ts';

/** `cycle task:type attempt right?` a line, as `1 a:table 1 +`; `?` where no true answer is known. */
function outcomes(...lines: string[]): CycleOutcome[] {
  return lines.map((line) => {
    const [cycle = '', task = '', attempt = '', mark = ''] = line.split(' ');
    const [task_id = '', question_type = ''] = task.split(':');
    const correct = mark === '?' ? null : mark === '+';
    return { cycle: Number(cycle), attempt_number: Number(attempt), task_id, question_type, correct };
  });
}

test('the score is over everything that was tried, failures and all (OV-44)', () => {
  const [report] = scoreByCycle(outcomes('1 a:t 1 +', '1 b:t 1 -', '1 c:t 1 -', '1 d:u 1 +'));
  expect(report).toMatchObject({ cycle: 1, attempted: 4, unscored: 0, correct: 2, score: 0.5, change: null });
  expect(report?.low).toBeCloseTo(0.15, 2);
  expect(report?.high).toBeCloseTo(0.85, 2);
  expect(report?.by_type).toMatchObject({ t: { attempted: 3, correct: 1 }, u: { attempted: 1, correct: 1 } });
});

test('an attempt without a true answer is shown and in no score', () => {
  const [report] = scoreByCycle(outcomes('1 a:t 1 +', '1 b:t 1 ?'));
  expect(report).toMatchObject({ attempted: 2, unscored: 1, correct: 1, score: 1 });
  expect(scoreByCycle(outcomes('1 a:t 1 ?'))[0]).toMatchObject({ attempted: 1, unscored: 1, score: null });
});

test('first attempts are apart from repeats (C-12)', () => {
  const [, second] = scoreByCycle(outcomes('1 a:t 1 -', '2 a:t 2 +', '2 b:t 1 -', '2 b:t 2 +'));
  expect(second).toMatchObject({
    attempted: 3,
    correct: 2,
    first: { attempted: 1, correct: 0, score: 0 },
    repeats: { attempted: 2, correct: 2, score: 1 },
  });
});

test('a cycle on the same questions has its change, in total and by type (OV-44, OV-45)', () => {
  const reports = scoreByCycle(outcomes('2 b:u 2 +', '2 a:t 2 +', '1 a:t 1 -', '1 b:u 1 +'));
  expect(reports.map(({ cycle, score }) => [cycle, score])).toEqual([
    [1, 0.5],
    [2, 1],
  ]);
  expect(reports[1]?.change).toEqual({
    delta: 0.5,
    by_type: { t: 1, u: 0 },
    gained: ['t'],
    lost: [],
    verdict: 'gain',
  });
});

test('a gain in one type with a loss in another is a regression, even where the total rose (OV-44)', () => {
  const before = ['1 a:t 1 -', '1 b:t 1 -', '1 c:u 1 +'];
  const [, second] = scoreByCycle(outcomes(...before, '2 a:t 2 +', '2 b:t 2 +', '2 c:u 2 -'));
  expect(second?.change).toMatchObject({ gained: ['t'], lost: ['u'], verdict: 'regression' });
  expect(second?.change?.delta).toBeCloseTo(1 / 3);
});

test('nothing gained and nothing lost is the same, a loss alone a regression (OV-44)', () => {
  const [, same, worse] = scoreByCycle(outcomes('1 a:t 1 +', '2 a:t 2 +', '3 a:t 3 -'));
  expect(same?.change).toMatchObject({ delta: 0, verdict: 'same' });
  expect(worse?.change).toMatchObject({ delta: -1, lost: ['t'], verdict: 'regression' });
});

test('a cycle on other questions cannot be compared, but a type that had the same can (OV-44)', () => {
  const [, second] = scoreByCycle(outcomes('1 a:t 1 -', '1 b:u 1 +', '1 e:w 1 +', '2 a:t 2 +', '2 c:v 1 +'));
  expect(second?.change).toEqual({
    delta: null,
    by_type: { t: 1, v: null, u: null, w: null },
    gained: ['t'],
    lost: [],
    verdict: 'not comparable',
  });
});

test('a question keeps the type of its first outcome: a planner that changes its mind is no change of score (OV-44)', () => {
  const [, second] = scoreByCycle(outcomes('1 a:t 1 +', '1 b:u 1 -', '2 a:u 2 +', '2 b:t 2 -'));
  expect(second?.change).toMatchObject({ by_type: { t: 0, u: 0 }, verdict: 'same' });
});

test('the score by number of the attempt shows what repeating brings (OV-45)', () => {
  const scores = scoreByAttempt(outcomes('1 a:t 1 -', '2 a:t 2 +', '1 b:t 1 +', '1 c:t 1 -'));
  expect(
    scores.map(({ attempt_number, attempted, correct }) => [attempt_number, attempted, correct]),
  ).toEqual([
    [1, 3, 1],
    [2, 1, 1],
  ]);
});

test('names of types are the planner’s words, and may be any', () => {
  const [report] = scoreByCycle(outcomes('1 a:__proto__ 1 +', '1 b:constructor 1 -'));
  expect(Object.keys(report?.by_type ?? {})).toEqual(['__proto__', 'constructor']);
});

test('no outcomes give no cycles', () => {
  expect(scoreByCycle([])).toEqual([]);
  expect(scoreByAttempt([])).toEqual([]);
});
