import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkJsonValues,
  formatForeignJson,
  keepForeignJson,
  keepForeignValue,
  parseForeignJson,
  parseJsonText,
} from './parse-json.ts';

/** Keys in which an escape, and a backslash that is none, stand at the same places. */
const key = fc
  .array(fc.constantFrom('\\', '\n', '"', 'n', 'u000a', '\u0001', 'é', '\u2028', '😀', 'a'), { maxLength: 3 })
  .map((letters) => letters.join(''));

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>(0, -1.5, 1e300, true, null, '', '\\', 'a "word"\\\n', 'é😀'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

it('reads an escaped key as it is written, whatever keys were read before', () => {
  parseJsonText('{"h":[],"\\\\":0}');
  expect(parseJsonText('{"h":1,"\\n":2}')).toStrictEqual({ h: 1, '\n': 2 });
  expect(parseJsonText('{"h":1,"\\"":2}')).toStrictEqual({ h: 1, '"': 2 });
  expect(parseJsonText('{"h":1,"\\u000a":2}')).toStrictEqual({ h: 1, '\n': 2 });
});

it('reads any value as it was written, its keys in their order, whatever was read before', () => {
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 1, '\t\r'), (written, space) => {
      const text = JSON.stringify(written, undefined, space);
      expect(parseJsonText(text)).toStrictEqual(written);
      expect(JSON.stringify(parseJsonText(text), undefined, space)).toBe(text);
    }),
    { numRuns: 5000 },
  );
});

it('counts values, keys included, and nothing within strings', () => {
  const text = '{"a":[1,{}],"b":"[,]{:\\\\","c\\"":[]}';
  expect(() => checkJsonValues(text, 11)).not.toThrow();
  expect(() => checkJsonValues(text, 10)).toThrow('more than 10 values');
  expect(() => checkJsonValues('"an open string', 1)).not.toThrow();
});

it('takes the last of two equal keys, and __proto__ for a key like others, as JSON.parse does', () => {
  const read = parseJsonText('{ "\\\\" : 1 , "__proto__" : [ ] , "\\u005c" : { } }');
  expect(Object.entries(Object(read))).toStrictEqual([
    ['\\', {}],
    ['__proto__', []],
  ]);
});

it.each(['{"\\\\":1', '{"\\\\":01}', '["\\x"]', '{"\\\\":"\n"}', '\ufeff{"\\\\":1}'])(
  'refuses %j',
  (text) => {
    expect(() => parseJsonText(text)).toThrow(SyntaxError);
  },
);

it('refuses what is nested too deep to be read anew, in place of running out of stack', () => {
  const deep = (depth: number) => `{"\\\\":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  expect(JSON.stringify(parseJsonText(deep(900)))).toBe(deep(900));
  expect(() => parseJsonText(deep(500_000))).toThrow('nested deeper than 1000');
});

describe('JSON of a foreign sender', () => {
  const nest = (depth: number) => `${'[{"a":'.repeat(depth / 2)}0${'}]'.repeat(depth / 2)}`;

  it('is read to the bound of its nesting, and refused one level beyond', () => {
    expect(JSON.stringify(parseForeignJson(nest(64)))).toBe(nest(64));
    expect(() => parseForeignJson(`[${nest(64)}]`)).toThrow('nested deeper than 64 levels');
    expect(parseForeignJson('[[0]]', { maxDepth: 2 })).toEqual([[0]]);
    expect(() => parseForeignJson('[[[]]]', { maxDepth: 2 })).toThrow('nested deeper than 2 levels');
  });

  it('may have any brackets in its strings and keys, and any number of lists side by side', () => {
    const brackets = '['.repeat(1000);
    const value = { [`"${brackets}`]: `\\"${brackets}\\`, lists: Array.from({ length: 1000 }, () => []) };
    expect(parseForeignJson(JSON.stringify(value))).toEqual(value);
  });

  it.each([
    '['.repeat(4_000_000),
    `"${'\\"'.repeat(2_000_000)}`,
    `${'"'.repeat(4_000_001)}`,
    '1'.repeat(4_000_000),
  ])('is refused within a second of work, however long it is (%#)', (text) => {
    const before = process.threadCpuUsage().user;
    expect(() => parseForeignJson(text, { isExact: true })).toThrow(SyntaxError);
    expect(process.threadCpuUsage().user - before).toBeLessThan(1_000_000);
  });

  it.each([
    '9007199254740993',
    '-9007199254740993',
    '{"a":[12345678901234567890]}',
    '1e309',
    '[-1E400]',
    '12345678901234567890.0',
    '9007199254740993e0',
  ])('is refused where a number of it would be changed: %s', (text) => {
    expect(() => parseForeignJson(text, { isExact: true })).toThrow('send it as a text');
    expect(() => parseForeignJson(text)).not.toThrow();
  });

  it.each([
    '9007199254740992',
    '-9007199254740991',
    '1e22',
    '1e308',
    '0.1234567890123456789',
    '"9007199254740993"',
  ])('keeps %s', (text) => {
    expect(parseForeignJson(text, { isExact: true })).toBe(JSON.parse(text));
  });
});

describe('what is kept of foreign JSON', () => {
  it.each<readonly [text: string, written: string, lost: readonly string[]]>([
    ['{"id":2512292042121000001,"ratio":0.1}', '{"id":2512292042121000001,"ratio":0.1}', []],
    [
      '[9007199254740991,9007199254740992,9007199254740993]',
      '[9007199254740991,9007199254740992,9007199254740993]',
      [],
    ],
    [
      '[-9007199254740993,12345678901234567890123,1e400,-1E+400]',
      '[-9007199254740993,12345678901234567890123,1e400,-1E+400]',
      [],
    ],
    ['[1e23,1.50,100000000000000000000000,2e-400]', '[1e+23,1.5,1e+23,0]', []],
    ['\ufeff{"a":1}', '{"a":1}', []],
    [
      '{"a":"cut \\ud83d","\\ud83d":1}',
      '{"a":"cut \ufffd","\ufffd":1}',
      ['a: half a character became U+FFFD', '\ufffd: half a character became U+FFFD'],
    ],
    [
      '{"a":{"__proto__":{"x":1},"b":2}}',
      '{"a":{"b":2}}',
      ['a.__proto__: a member of this name is left out: some programs obey it'],
    ],
    ['{"a":[{"b":1,"b":2}]}', '{"a":[{"b":2}]}', ['a.0.b: the key comes twice: the last one counts']],
    ['{"h":1,"\\n":2}', '{"h":1,"\\n":2}', []],
  ])('%s', (text, written, lost) => {
    const kept = keepForeignJson(text);
    expect(formatForeignJson(kept.value)).toBe(written);
    expect(kept.lost).toEqual(lost);
  });

  it('is named up to a bound', () => {
    const { lost } = keepForeignJson(JSON.stringify(Array.from({ length: 50 }, () => '\ud83d')));
    expect(lost).toHaveLength(11);
    expect(lost.at(-1)).toBe('40 more');
  });

  it('is kept within a second of work, however many digits a number has', () => {
    const text = `1${'0'.repeat(1_000_000)}1`;
    const before = process.threadCpuUsage().user;
    expect(formatForeignJson(keepForeignJson(text).value)).toBe(text);
    expect(process.threadCpuUsage().user - before).toBeLessThan(1_000_000);
  });

  it('leaves out what JSON does not have', () => {
    expect(keepForeignValue({ a: Number.NaN, b: 10n ** 20n, c: undefined, d: () => 1 })).toEqual({
      value: { b: 1e20 },
      lost: ['a: NaN is left out: JSON has no such number', 'd: a function is left out: JSON has none'],
    });
  });

  it('leaves texts alone that look like an exact number', () => {
    const text = JSON.stringify({ a: '{"$number":"12"}' });
    expect(formatForeignJson(keepForeignJson(text).value)).toBe(text);
  });
});
