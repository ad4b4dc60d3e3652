import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MeshError } from '../../core/contracts/errors.ts';
import { evaluateThreshold, parseThreshold } from './thresholds.ts';

const TABLE = {
  json: { bytes: 100, time: 12.5, tokens: 30, header: 40 },
  a2a: { bytes: 250, time: 14, tokens: 75, header: 190 },
  'msgpack+zstd+ed25519': { bytes: 110, time: 60, header: 50 },
  './adapters/mine.v2.ts': { bytes: 99, time: 11, header: 39 },
};

function failed(text: string): boolean {
  return evaluateThreshold(parseThreshold(text), TABLE).failed;
}

it('compares a figure with a multiple of the figure of another arm', () => {
  expect(evaluateThreshold(parseThreshold('a2a.bytes > 2.4x json'), TABLE)).toEqual({
    text: 'a2a.bytes > 2.4x json',
    failed: true,
    left: 250,
    right: 240,
  });
  expect(failed('a2a.bytes > 2.6x json')).toBe(false);
  expect(failed('msgpack+zstd+ed25519.time < 5x json')).toBe(true);
  expect(failed('./adapters/mine.v2.ts.header < 1x json')).toBe(true);
});

it('compares a figure with a number', () => {
  expect(evaluateThreshold(parseThreshold('json.time >= 12.5'), TABLE)).toMatchObject({
    left: 12.5,
    right: 12.5,
  });
  expect(failed('a2a.tokens > 74')).toBe(true);
  expect(failed('a2a.tokens > 75')).toBe(false);
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
  expect(() => failed('msgpack+zstd+ed25519.tokens > 2')).toThrow(
    'msgpack+zstd+ed25519 has no figure for tokens',
  );
  const unmeasured = { json: { time: Number.NaN } };
  expect(() => evaluateThreshold(parseThreshold('json.time > 2'), unmeasured)).toThrow('no figure for time');
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
