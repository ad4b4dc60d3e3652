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

/** a2a takes 1.2 to 1.4 times as long as anything else, and 90 to 110 µs; nobody counts CPU time. */
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
    outcome: 'held',
    found: '250 against 264',
  });
});

it.each([
  ['a2a.time > 1.1x msgpack+zstd+ed25519', 'failed'],
  ['a2a.time > 1.3x msgpack+zstd+ed25519', 'cannot tell'],
  ['a2a.time > 1.5x msgpack+zstd+ed25519', 'held'],
  ['a2a.time < 1.5x msgpack+zstd+ed25519', 'failed'],
  ['a2a.time < 1.3x msgpack+zstd+ed25519', 'cannot tell'],
  ['a2a.time < 1.1x msgpack+zstd+ed25519', 'held'],
  ['a2a.time > 80', 'failed'],
  ['a2a.time > 100', 'cannot tell'],
  ['a2a.time > 120', 'held'],
  ['a2a.first > 2x msgpack+zstd+ed25519', 'cannot tell'],
])('a time fails only where its whole interval does: %s %s', (text, expected) => {
  expect(outcome(text)).toBe(expected);
});

it('what was shown to be equal crosses no bound within the margin', () => {
  // 1.01 to 1.03 of json, which counts as none.
  expect(outcome('a2a.time > 1x json')).toBe('held');
  expect(outcome('a2a.time < 1.04x json')).toBe('held');
  expect(outcome('a2a.time < 1.06x json')).toBe('failed');
  expect(evaluateThreshold(parseThreshold('a2a.time > 1x json'), FIGURES).found).toBe(
    '1.02 times json (95 % interval 1.01–1.03) against 1',
  );
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

it('names the metric that there is not', () => {
  expect(() => parseThreshold('a2a.size > 2')).toThrow('there is no metric size');
});

it('refuses arms and figures that the comparison does not have', () => {
  expect(() => failed('xml.bytes > 2')).toThrow(expect.objectContaining({ code: 'usage' }));
  expect(() => failed('xml.bytes > 2')).toThrow('expected one of the arms json, a2a, ');
  expect(() => failed('a2a.bytes > 2x xml')).toThrow('got xml');
  expect(() => failed('constructor.bytes > 2')).toThrow('got constructor');
  expect(() => failed('msgpack+zstd+ed25519.header > 2')).toThrow(
    'msgpack+zstd+ed25519 has no figure for header',
  );
  expect(() => failed('a2a.cpu > 2x json')).toThrow('there is no figure for cpu');
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
