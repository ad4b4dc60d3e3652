import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkJsonValues, parseJsonText } from './parse-json.ts';

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
