import { expect, test } from 'vitest';
import { Calibration } from './calibration.ts';

const figuresOf = (answers: readonly (readonly [number | undefined, boolean])[]) => {
  const calibration = new Calibration();
  for (const [chance, isRight] of answers) calibration.add(chance, isRight);
  return calibration.figures();
};

test('chances that come true have no error; those that promise too much have the distance', () => {
  const honest = Array.from({ length: 10 }, (_, at) => [0.7, at < 7] as const);
  expect(figuresOf(honest).expected_calibration_error).toBeCloseTo(0);
  const boaster = Array.from({ length: 10 }, (_, at) => [0.9, at < 5] as const);
  expect(figuresOf(boaster).expected_calibration_error).toBeCloseTo(0.4);
  expect(figuresOf([...honest, ...boaster]).expected_calibration_error).toBeCloseTo(0.2);
  // Overconfidence in one bin does not cancel underconfidence in another.
  const reversed = [[0.95, false] as const, [0.05, true] as const];
  expect(figuresOf(reversed).expected_calibration_error).toBeCloseTo(0.95);
});

test('coverage is of all questions, and the surer half is half of them', () => {
  const answers = [
    [0.9, true],
    [0.8, true],
    [0.4, false],
    [undefined, false],
  ] as const;
  expect(figuresOf(answers)).toMatchObject({ coverage: 0.75, accuracy_of_given: 2 / 3, accuracy_at_half: 1 });
  expect(figuresOf([...answers, [undefined, false], [undefined, false], [undefined, false]])).toMatchObject({
    accuracy_at_half: null,
  });
  // The given answers are exactly half of all questions.
  const given = answers.slice(0, 3);
  expect(figuresOf([...given, ...given.map(() => [undefined, false] as const)])).toMatchObject({
    accuracy_at_half: 2 / 3,
  });
});

test('at the edge of a half, answers that are equally sure count for the same part', () => {
  const answers = [...Array.from({ length: 4 }, (_, at) => [0.5, at < 1] as const)];
  expect(figuresOf(answers).accuracy_at_half).toBeCloseTo(0.25);
});

test('without questions or answers there is nothing to say', () => {
  expect(figuresOf([])).toEqual({
    coverage: 0,
    accuracy_of_given: null,
    accuracy_at_half: null,
    expected_calibration_error: null,
  });
  expect(figuresOf([[1, true]]).accuracy_at_half).toBe(1);
});
