import { expect, it } from 'vitest';
import type { Comparison } from './paired.ts';
import { judgeBytes, judgeTimes, noiseFloor } from './verdict.ts';

function comparison(values: Partial<Comparison>): Comparison {
  return { n: 30, ratio: 1, low: 0.99, high: 1.01, pValue: 0.5, effectSize: 0, ...values };
}

const QUIET = comparison({});
const SLOWER = comparison({ ratio: 1.1, low: 1.08, high: 1.12, pValue: 1e-6, effectSize: 1 });
const FASTER = comparison({ ratio: 0.9, low: 0.88, high: 0.92, pValue: 1e-6, effectSize: -1 });

it('calls a difference where test, interval and noise floor agree', () => {
  expect(judgeTimes([SLOWER, FASTER, QUIET], QUIET).map(({ verdict }) => verdict)).toEqual([
    'slower',
    'faster',
    'no detectable difference',
  ]);
});

it('calls none where one of the three does not', () => {
  const [verdict] = ['no detectable difference'];
  // 0.02 for itself, but 0.06 among three.
  const some = comparison({ ...SLOWER, pValue: 0.02 });
  expect(judgeTimes([some], QUIET)[0]).toMatchObject({ adjustedP: 0.02, verdict: 'slower' });
  expect(judgeTimes([some, QUIET, QUIET], QUIET)[0]).toMatchObject({ adjustedP: 0.06, verdict });
  expect(judgeTimes([{ ...SLOWER, low: 1 }], QUIET)[0]?.verdict).toBe(verdict);
  expect(judgeTimes([{ ...FASTER, high: 1 }], QUIET)[0]?.verdict).toBe(verdict);
  expect(judgeTimes([SLOWER], comparison({ high: 1.1 }))[0]?.verdict).toBe(verdict);
  expect(judgeTimes([SLOWER], comparison({ high: 1.0999 }))[0]?.verdict).toBe('slower');
});

it('takes the noise floor in both directions, wherever the null comparison lies', () => {
  expect(noiseFloor(comparison({ low: 0.98, high: 1.25 }))).toEqual({ low: 0.8, high: 1.25 });
  expect(noiseFloor(comparison({ low: 0.8, high: 0.9 }))).toEqual({ low: 0.8, high: 1.25 });
  const biased = comparison({ ratio: 1.15, low: 1.13, high: 1.17 });
  expect(judgeTimes([FASTER], biased)[0]?.verdict).toBe('no detectable difference');
});

it('says what it could have shown: with fewer rounds and more noise less, and never less than the noise floor', () => {
  const shown = (values: Partial<Comparison>, nullTest = QUIET, others = 0) =>
    judgeTimes([comparison(values), ...Array.from({ length: others }, () => QUIET)], nullTest)[0]?.detectable;
  expect(shown({})).toBeCloseTo(1.0144, 4);
  expect(shown({ low: 0.9, high: 1.1 })).toBeCloseTo(1.154, 3);
  expect(shown({}, QUIET, 9)).toBeGreaterThan(shown({}) ?? 0);
  expect(shown({}, comparison({ high: 1.2 }))).toBeGreaterThan(1.2);
  expect(shown({ n: 5 })).toBe(Infinity);
  expect(shown({}, comparison({ low: 0, high: Infinity }))).toBe(Infinity);
});

it('calls nothing before there are rounds enough for a noise floor', () => {
  const unknown = comparison({ n: 5, low: 0, high: Infinity });
  expect(noiseFloor(unknown)).toEqual({ low: 0, high: Infinity });
  expect(judgeTimes([SLOWER, FASTER], unknown).map(({ verdict }) => verdict)).toEqual([
    'no detectable difference',
    'no detectable difference',
  ]);
  expect(judgeTimes([], QUIET)).toEqual([]);
});

it('compares bytes to the byte', () => {
  expect(judgeBytes(1000, 1000)).toEqual({ ratio: 1, low: 1, high: 1, verdict: 'equal' });
  expect(judgeBytes(1000, 999)).toEqual({ ratio: 0.999, low: 0.999, high: 0.999, verdict: 'smaller' });
  expect(judgeBytes(1000, 1001)).toMatchObject({ ratio: 1.001, verdict: 'larger' });
});

it('refuses bytes that are not exact', () => {
  for (const bytes of [0, -1, 1.5, 2 ** 53, Number.NaN]) {
    expect(() => judgeBytes(bytes, 1)).toThrow(RangeError);
    expect(() => judgeBytes(1, bytes)).toThrow(RangeError);
  }
});
