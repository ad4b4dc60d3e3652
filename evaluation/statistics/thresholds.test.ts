import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { evaluateThreshold, parseThreshold, type ThresholdFigures } from './thresholds.ts';

type Exact = Partial<Record<'bytes' | 'header', number>>;

const TABLE: Readonly<Record<string, Exact>> = {
  json: { bytes: 100, header: 40 },
  a2a: { bytes: 250, header: 190 },
  'msgpack+zstd+ed25519': { bytes: 110 },
  './adapters/mine.v2.ts': { bytes: 99, header: 39 },
};

/** a2a takes 1.2 to 1.4 times as long as anything else, and 90 to 110 µs; CPU time was not measured. */
const FIGURES: ThresholdFigures = {
  arms: Object.keys(TABLE),
  exact: (arm, metric, isSaved) => {
    const figure = TABLE[arm]?.[metric];
    return figure === undefined ? undefined : isSaved ? figure - 10 : figure;
  },
  measured: (_arm, metric, times) => {
    const known = { isEquivalent: false, margin: 0.05 };
    if (metric === 'cpu') return undefined;
    if (metric === 'first') return { ...known, ratio: 1, low: 0, high: Infinity };
    return times === null
      ? { ...known, ratio: 100, low: 90, high: 110 }
      : times === 'json'
        ? { ...known, ratio: 1.02, low: 1.01, high: 1.03, isEquivalent: true }
        : { ...known, ratio: 1.3, low: 1.2, high: 1.4 };
  },
};

function outcome(text: string): string {
  return evaluateThreshold(parseThreshold(text), FIGURES).outcome;
}

function failed(text: string): boolean {
  return outcome(text) === 'failed';
}

it('compares a figure with a multiple of the figure of another arm', () => {
  expect(evaluateThreshold(parseThreshold('a2a.bytes > 2.4x json'), FIGURES)).toEqual({
    text: 'a2a.bytes > 2.4x json',
    outcome: 'failed',
    found: '250 against 240',
  });
  expect(failed('a2a.bytes > 2.6x json')).toBe(false);
  expect(failed('msgpack+zstd+ed25519.bytes < 5x json')).toBe(true);
  expect(failed('./adapters/mine.v2.ts.header < 1x json')).toBe(true);
});

it('compares a figure with a number', () => {
  expect(failed('a2a.header > 189')).toBe(true);
  expect(failed('a2a.header > 190')).toBe(false);
});

it('compares a figure with the same as it was saved', () => {
  expect(failed('a2a.bytes > 1x saved')).toBe(true);
  expect(evaluateThreshold(parseThreshold('a2a.bytes > 1.1x saved'), FIGURES)).toMatchObject({
    outcome: 'passed',
    found: '250 against 264',
  });
});

it('is exact at the bound, where floating point is not', () => {
  // 1.1 * 100 is 110.00000000000001.
  for (const [operator, expected] of [
    ['>', false],
    ['>=', true],
    ['<', false],
    ['<=', true],
  ] as const) {
    expect(failed(`msgpack+zstd+ed25519.bytes ${operator} 1.1x json`)).toBe(expected);
    expect(failed(`a2a.bytes ${operator} 2.5x json`)).toBe(expected);
  }
  expect(failed('msgpack+zstd+ed25519.bytes > 1.099999x json')).toBe(true);
  expect(failed('msgpack+zstd+ed25519.bytes > 1.100001x json')).toBe(false);
});

it('does not mind spaces', () => {
  for (const text of ['a2a.bytes>2x json', '  a2a.bytes  >  2  x  json ', 'a2a.bytes >2x json']) {
    expect(failed(text)).toBe(true);
  }
});

it.each([
  '',
  'a2a.bytes',
  'a2a.bytes >',
  'bytes > 2',
  '.bytes > 2',
  'a2a.bytes = 2',
  'a2a.bytes == 2',
  'a2a.bytes => 2',
  'a2a.bytes > json',
  'a2a.bytes > -2',
  'a2a.bytes > 2x',
  'a2a.bytes > 2xjson',
  'a2a.bytes > 2 json',
  'a2a.bytes > 2.x json',
  'a2a.bytes > .5x json',
  'a2a.bytes > 1e3',
  'a2a.bytes > 2x json cbor',
  'a2a.bytes > 2x json; json.bytes > 1',
  'a2a.Bytes > 2',
  'a2a.size > 2',
  'a2a.bytes > 1234567890123',
  'a2a.bytes > 1.1234567',
])('refuses %o and shows how it is written', (text) => {
  expect(() => parseThreshold(text)).toThrow(expect.objectContaining({ code: 'usage' }));
  expect(() => parseThreshold(text)).toThrow("e.g. 'a2a.bytes > 2.5x json'; got");
});

it('reads or refuses any text, and nothing else', () => {
  const pieces = fc.constantFrom('a2a', 'json', '.', 'bytes', 'time', '>', '<', '=', ' ', '2', '5', 'x', 'é');
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
      try {
        parseThreshold(parts.join(''));
      } catch (error) {
        expect(error).toBeInstanceOf(MeshError);
      }
    }),
  );
});

it.each([
  ['json.bytes>2', 'json', 'bytes', '>', 2, 1, null],
  [' a.b.header <= 2.50x saved ', 'a.b', 'header', '<=', 250, 100, 'saved'],
  ['a+b.time >= 0.000001 x c', 'a+b', 'time', '>=', 1, 1_000_000, 'c'],
  ['a.saturated > 2x b', 'a', 'saturated', '>', 2, 1, 'b'],
  ['a.cpu < 123456789012.5', 'a', 'cpu', '<', 1_234_567_890_125, 10, null],
  ['a.first > 0', 'a', 'first', '>', 0, 1, null],
  ['a.right < 1x b', 'a', 'right', '<', 1, 1, 'b'],
] as const)('reads %j', (text, arm, metric, operator, numerator, denominator, times) => {
  expect(parseThreshold(text)).toEqual({ text, arm, metric, operator, numerator, denominator, times });
});

it('says how a condition is written, with what was written instead', () => {
  const expected =
    "--fail-if: expected '<arm>.<bytes|header|time|cpu|first|saturated|right> <>|>=|<|<=> <number>[x <arm>]', e.g. 'a2a.bytes > 2.5x json'; got ";
  expect(() => parseThreshold('a2a.bytes')).toThrow(
    expect.objectContaining({ message: `${expected}'a2a.bytes'` }),
  );
  expect(() => parseThreshold('a2a.size > 2')).toThrow(
    expect.objectContaining({ message: `${expected}'a2a.size > 2'; there is no metric size` }),
  );
});

it('takes the metrics of a kind of arms alone', () => {
  expect(parseThreshold('a.right < 1x b', ['a', 'b'], 'teams').metric).toBe('right');
  expect(() => parseThreshold('a.time > 1x b', ['a', 'b'], 'teams')).toThrow(
    "expected '<arm>.<right> <>|>=|<|<=> <number>[x <arm>]', e.g. 'react.right < 1x single'; got 'a.time > 1x b'; there is no metric time",
  );
  expect(() => parseThreshold('a.saturated > 2', ['a'], 'adapters')).toThrow('there is no metric saturated');
});

/** Evaluates a condition on arms that were all measured as `measured`, and have `bytes` now and `saved` in the baseline. */
function judge(
  text: string,
  measured?: Partial<ReturnType<ThresholdFigures['measured']>>,
  { bytes = 100, saved = 100 }: { bytes?: number; saved?: number } = {},
) {
  const usual = { ratio: 1.2, low: 1.1, high: 1.3, isEquivalent: false, margin: 0.05 };
  return evaluateThreshold(parseThreshold(text), {
    arms: ['a', 'b'],
    exact: (_arm, _metric, isSaved) => (isSaved ? saved : bytes),
    measured: () => measured && { ...usual, ...measured },
  });
}

it.each([
  // If the bound is an end of the interval, 1.1 to 1.3, the end is neither above nor below it.
  ['> 1.09', 'failed'],
  ['> 1.1', 'cannot tell'],
  ['>= 1.1', 'failed'],
  ['> 1.3', 'passed'],
  ['>= 1.3', 'cannot tell'],
  ['>= 1.31', 'passed'],
  ['< 1.31', 'failed'],
  ['< 1.3', 'cannot tell'],
  ['<= 1.3', 'failed'],
  ['< 1.1', 'passed'],
  ['<= 1.1', 'cannot tell'],
  ['<= 1.09', 'passed'],
])('an interval from 1.1 to 1.3 against %s: %s', (condition, outcome) => {
  expect(judge(`a.time ${condition}x b`, {}).outcome).toBe(outcome);
  expect(judge(`a.time ${condition}`, {}).outcome).toBe(outcome);
});

it.each([
  // Shown to be equal within 5 %: only a bound beyond the margin is crossed.
  ['a.time > 1.01x b', 'passed'],
  ['a.time > 1.049x b', 'passed'],
  ['a.time > 1.05x b', 'failed'],
  ['a.time > 0.953x b', 'passed'],
  ['a.time > 0.952x b', 'failed'],
  ['a.time > 1x saved', 'passed'],
  // The bound is a number of microseconds and no ratio of two arms, so that the margin does not apply.
  ['a.time > 1.01', 'failed'],
])('equal arms cross no bound within the margin: %s %s', (text, outcome) => {
  expect(judge(text, { isEquivalent: true }).outcome).toBe(outcome);
});

it.each([
  ['a.time > 1.05x b', { low: 0.9, high: 1.2 }, 'cannot tell'],
  ['a.time > 1.05x b', { low: 0.83, high: 1.01 }, 'cannot tell'],
  // The measured ratio, 1.2, is beyond the interval of the baseline against itself.
  ['a.time > 1.05x b', { low: 0.95, high: 1.19 }, 'failed'],
  // The bound is beyond that interval.
  ['a.time > 1.4x b', { low: 0.9, high: 1.25 }, 'passed'],
  ['a.time > 0.7x b', { low: 0.9, high: 1.25 }, 'failed'],
  ['a.time > 1.05', { low: 0.9, high: 1.25 }, 'failed'],
] as const)('a baseline against itself makes noise of %s at %o: %s', (text, nullArm, outcome) => {
  expect(judge(text, { nullArm }).outcome).toBe(outcome);
});

it('shows four digits of what was measured, its unit, and the baseline against itself', () => {
  const close = { ratio: 1.23456, low: 1.11111, high: 1.33339 };
  const nullArm = { low: 0.987654, high: 1.0123456 };
  expect(judge('a.time > 1.05x b', close)).toEqual({
    text: 'a.time > 1.05x b',
    outcome: 'failed',
    found: '1.235 times b (95 % interval 1.111–1.333) against 1.05',
  });
  expect(judge('a.time > 1x saved', { ...close, nullArm }).found).toBe(
    '1.235 times saved (95 % interval 1.111–1.333; the baseline against itself 0.9877–1.012) against 1',
  );
  expect(judge('a.time > 1.05x b', { ...close, high: Infinity }).found).toMatch(/interval 1\.111–∞/);
  expect(judge('a.time > 1.05x b', { ...close, low: 0 }).found).toMatch(/interval 0–1\.333/);
  expect(judge('a.right > 7', close).found).toMatch(/^1\.235 % /);
  expect(judge('a.time > 7', { ...close, nullArm }).found).toBe(
    '1.235 µs (95 % interval 1.111–1.333) against 7',
  );
  expect(judge('a.time > 1x b', { low: 0, high: Infinity, nullArm: { low: 0, high: Infinity } }).found).toBe(
    '1.2 times b (too few samples for an interval) against 1',
  );
});

it('refuses a condition on what was not measured, and says of which arm', () => {
  const refusal = (...of: Parameters<typeof judge>) => {
    try {
      judge(...of);
    } catch (error) {
      return error instanceof MeshError ? `${error.code}: ${error.message}` : error;
    }
    return 'nothing';
  };
  for (const none of [Infinity, Number.NaN])
    expect(refusal('a.bytes > 2x b', {}, { bytes: none })).toBe(
      "usage: --fail-if 'a.bytes > 2x b': a has no figure for bytes",
    );
  expect(refusal('a.bytes > 2x saved', {}, { saved: Number.NaN })).toBe(
    "usage: --fail-if 'a.bytes > 2x saved': a as it was saved has no figure for bytes",
  );
  expect(refusal('a.bytes > 2x b', {}, { saved: Number.NaN })).toBe('nothing');
  expect(refusal('a.bytes > 2', {}, { saved: Number.NaN })).toBe('nothing');
  expect(refusal('a.time > 2x b')).toBe("usage: --fail-if 'a.time > 2x b': there is no figure for time");
  expect(refusal('a.time > 2x c', {})).toBe(
    "usage: --fail-if 'a.time > 2x c': expected one of the arms a, b; got c",
  );
  expect(refusal('saved.time > 2', {})).toBe(
    "usage: --fail-if 'saved.time > 2': expected one of the arms a, b; got saved",
  );
});

it('refuses an arm that will not be measured before anything is, where the arms are known', () => {
  expect(parseThreshold('a.bytes > 2x b', ['a', 'b'])).toEqual(parseThreshold('a.bytes > 2x b'));
  expect(parseThreshold('a.time > 2x saved', ['a']).times).toBe('saved');
  for (const text of ['c.bytes > 2', 'a.bytes > 2x c'])
    expect(() => parseThreshold(text, ['a', 'b'])).toThrow(/expected one of the arms a, b; got c/);
});

it('names the other arm where that one has no figure', () => {
  const figures: ThresholdFigures = {
    arms: ['a', 'b'],
    exact: (arm) => (arm === 'a' ? 1 : undefined),
    measured: () => undefined,
  };
  expect(() => evaluateThreshold(parseThreshold('a.bytes > 2x b'), figures)).toThrow(
    'b has no figure for bytes',
  );
});
